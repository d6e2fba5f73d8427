package dashboards_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// A dashboard is the part of a Grafana dashboard that these tests look at.
type dashboard struct {
	UID, Title string
	Panels     []panel
	Templating struct{ List []variable }
}

type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int }
	Targets                  []target
}

type target struct {
	RefID, Expr, LegendFormat string
	Datasource                struct{ UID string }
}

type variable struct {
	Name, Type, Definition string
}

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	text, err := os.ReadFile("grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Panels) == 0 {
		t.Fatal("there are no panels")
	}
	return d
}

// Each panel has a place of its own, and each query names its data source.
func TestPanels(t *testing.T) {
	const columns = 24
	d := readDashboard(t)
	taken, ids := make(map[[2]int]string), make(map[int]bool)
	for _, p := range d.Panels {
		if ids[p.ID] || p.Title == "" || p.Description == "" || len(p.Targets) == 0 {
			t.Errorf("panel %d, %q, has no id of its own, no title, no description, or no query", p.ID, p.Title)
		}
		ids[p.ID] = true
		g := p.GridPos
		if g.X < 0 || g.W < 1 || g.H < 1 || g.X+g.W > columns {
			t.Errorf("%q does not fit: %+v", p.Title, g)
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" {
					t.Fatalf("%q covers %q", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		refs := make(map[string]bool)
		for _, q := range p.Targets {
			if refs[q.RefID] || q.RefID == "" || q.Datasource.UID != "${datasource}" || q.LegendFormat == "" {
				t.Errorf("a query of %q has no name of its own, no legend, or another data source: %+v", p.Title, q)
			}
			refs[q.RefID] = true
		}
	}
}

// Each variable that a query uses exists, and each variable is used.
func TestVariables(t *testing.T) {
	builtIn := map[string]bool{"__rate_interval": true}
	d := readDashboard(t)
	there, used := make(map[string]bool), map[string]bool{"datasource": true}
	for _, v := range d.Templating.List {
		there[v.Name] = true
	}
	for _, q := range d.queries() {
		for _, match := range regexp.MustCompile(`\$\{?(\w+)`).FindAllStringSubmatch(q, -1) {
			used[match[1]] = true
			if !there[match[1]] && !builtIn[match[1]] {
				t.Errorf("%s uses a variable that is not there", q)
			}
		}
	}
	for name := range there {
		if !used[name] {
			t.Errorf("nothing uses %s", name)
		}
	}
}

// The README describes exactly the panels of the dashboard.
func TestPanelsAreDescribed(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "| panel | look for |\n| --- | --- |\n")
	if !found {
		t.Fatal("the table of panels is missing")
	}
	described := make(map[string]bool)
	for row := range strings.Lines(table) {
		if !strings.HasPrefix(row, "|") {
			break
		}
		for _, title := range strings.Split(strings.Split(row, "|")[1], ",") {
			described[strings.TrimSpace(title)] = true
		}
	}
	for _, p := range readDashboard(t).Panels {
		if !described[p.Title] {
			t.Errorf("README.md does not describe %q", p.Title)
		}
		delete(described, p.Title)
	}
	for title := range described {
		t.Errorf("README.md describes %q, which is not there", title)
	}
}

// queries returns all expressions, including those of variables.
func (d dashboard) queries() []string {
	var list []string
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			list = append(list, q.Expr)
		}
	}
	for _, v := range d.Templating.List {
		if v.Definition != "" {
			list = append(list, v.Definition)
		}
	}
	return list
}
