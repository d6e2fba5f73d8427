package dashboards_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
)

// A family is what the README says about one name in Prometheus.
type family struct {
	instrument string
	labels     []string
}

// documentedFamilies returns the instruments of the README, under the names that its rule gives
// them.
func documentedFamilies(t *testing.T) map[string]family {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	families := make(map[string]family)
	row := regexp.MustCompile("(?m)^\\| `(dynamolease\\.\\S+)` \\| (\\w+) \\| `(\\S+)` \\| ([^|]*?) ?\\|")
	for _, r := range row.FindAllStringSubmatch(string(text), -1) {
		instrument, kind, unit := r[1], r[2], r[3]
		f := family{instrument: instrument}
		for name := range strings.SplitSeq(r[4], ", ") {
			if name != "" {
				f.labels = append(f.labels, "dynamolease_"+name)
			}
		}
		for _, name := range prometheusNames(instrument, kind, unit) {
			families[name] = f
		}
	}
	return families
}

// prometheusNames applies the rule of the README.
func prometheusNames(instrument, kind, unit string) []string {
	name := strings.ReplaceAll(instrument, ".", "_")
	if unit == "s" {
		name += "_seconds"
	}
	switch kind {
	case "counter":
		return []string{name + "_total"}
	case "histogram":
		return []string{name + "_bucket", name + "_sum", name + "_count"}
	default:
		return []string{name}
	}
}

// The exporter makes the names that the README's rule gives, with the labels that the README lists.
func TestNames(t *testing.T) {
	documented, scraped := documentedFamilies(t), make(map[string]map[model.LabelName]bool)
	for _, s := range scrapeFleet(t) {
		name := string(s.Metric[model.MetricNameLabel])
		if scraped[name] == nil {
			scraped[name] = make(map[model.LabelName]bool)
		}
		for label := range s.Metric {
			if strings.HasPrefix(string(label), "dynamolease_") {
				scraped[name][label] = true
			}
		}
	}
	delete(scraped, "target_info") // of the resource
	for name, f := range documented {
		if len(scraped[name]) != len(f.labels) {
			t.Errorf("%s has the labels %v, want %v", name, scraped[name], f.labels)
		}
		for _, label := range f.labels {
			if !scraped[name][model.LabelName(label)] {
				t.Errorf("%s lacks the label %s", name, label)
			}
		}
	}
	for name := range scraped {
		if _, ok := documented[name]; !ok {
			t.Errorf("the exporter makes %s, which does not follow from the rule", name)
		}
	}
}

// Queries use only instruments and labels that exist, and every instrument is used.
func TestQueriesUseInstruments(t *testing.T) {
	families := documentedFamilies(t)
	unused := make(map[string]bool)
	for _, f := range families {
		unused[f.instrument] = true
	}
	d := readDashboard(t)
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			for _, name := range checkQuery(t, q.Expr, families) {
				delete(unused, families[name].instrument)
			}
		}
	}
	for instrument := range unused {
		t.Errorf("no panel shows %s", instrument)
	}
	for _, v := range d.Templating.List {
		if v.Type == "query" {
			selector, _, _ := strings.Cut(strings.TrimPrefix(v.Definition, "label_values("), ", dynamolease")
			checkQuery(t, selector, families)
		}
	}
}

// checkQuery reports everything unknown that a query asks for, and returns the names that it uses.
func checkQuery(t *testing.T, query string, families map[string]family) (names []string) {
	t.Helper()
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(filled(query))
	if err != nil {
		t.Errorf("%s: %v", query, err)
		return nil
	}
	known := []string{"instance", "le", model.MetricNameLabel}
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		selector, ok := n.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		f, ok := families[selector.Name]
		if !ok {
			t.Errorf("%s asks for %s, which no instrument makes", query, selector.Name)
		}
		names, known = append(names, selector.Name), append(known, f.labels...)
		for _, m := range selector.LabelMatchers {
			if !slices.Contains(append(f.labels, model.MetricNameLabel), m.Name) {
				t.Errorf("%s asks for the label %s of %s, which it does not have", query, m.Name, selector.Name)
			}
		}
		return nil
	})
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		if aggregate, ok := n.(*parser.AggregateExpr); ok {
			for _, label := range aggregate.Grouping {
				if !slices.Contains(known, label) {
					t.Errorf("%s groups by %s, which is no label", query, label)
				}
			}
		}
		return nil
	})
	return names
}

// filled returns a query with Grafana's variables filled in.
func filled(query string) string {
	return strings.NewReplacer("$service", "shop", "$group", "orders", "$__rate_interval", "1m").Replace(query)
}
