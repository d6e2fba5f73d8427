package bench

import (
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const docs = "../../../docs"

var update = flag.Bool("update", false, "write what the figures in "+docs+" make, without measuring anything")

// What docs shows is what the figures beside it say, and they are of everything that is measured.
func TestDocuments(t *testing.T) {
	figures, err := os.ReadFile(filepath.Join(docs, costFigures))
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(figures, &r); err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile(filepath.Join(docs, costDocument))
	if err != nil {
		t.Fatal(err)
	}
	files, err := r.documents(string(document))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := r.publish(docs); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil {
			t.Error(err)
		} else if string(got) != want {
			t.Errorf("%s is not what the figures make: run make bench, or this test with -update", name)
		}
	}
	if got := r.sizes(); !slices.Equal(got, fleetSizes) {
		t.Errorf("rounds of %v leases, want %v", got, fleetSizes)
	}
	if want := len(fleetSizes) * (len(ways) + 1); len(r.Rounds) != want || len(r.Operations) != len(operations) || len(r.Renewals) != len(renewals) {
		t.Errorf("%d rows of rounds, %d of operations, %d of renewals", len(r.Rounds), len(r.Operations), len(r.Renewals))
	}
	if len(r.Takeovers) != 2 || len(r.Plans) != 8 || r.Reaping == nil {
		t.Errorf("take-overs %v, plans %v, reaping %v", r.Takeovers, r.Plans, r.Reaping)
	}
	for _, name := range []string{plotOfCost, plotOfEnds} {
		if !strings.Contains(string(document), "("+name+")") {
			t.Errorf("%s does not show %s", costDocument, name)
		}
	}
}

func TestFill(t *testing.T) {
	a := table{name: "a", rows: [][]string{{"name", "n"}, {"x", "1"}}, text: []int{0}, note: "A note."}
	const place = "<!-- measured: a -->\nold\n<!-- end of measured: a -->\n"
	got, err := fill("# Title\n"+place+"end\n", []table{a})
	if err != nil {
		t.Fatal(err)
	}
	want := "# Title\n<!-- measured: a -->\n\n| name | n |\n| --- | ---: |\n| x | 1 |\n\nA note.\n\n<!-- end of measured: a -->\nend\n"
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if again, err := fill(got, []table{a}); err != nil || again != got {
		t.Errorf("filled again: %v\n%s", err, again)
	}
	for _, document := range []string{"", "<!-- measured: a -->\n", place + "<!-- measured: b -->\n<!-- end of measured: b -->\n"} {
		if _, err := fill(document, []table{a}); err == nil {
			t.Errorf("%q is no error", document)
		}
	}
}

// drawing is what a test reads of an SVG.
type drawing struct {
	Plots []struct {
		Text   []string `xml:"text"`
		Curves []struct {
			Title string `xml:"title"`
			Line  struct {
				Points string `xml:"points,attr"`
			} `xml:"polyline"`
			Marks []struct {
				At string `xml:"transform,attr"`
			} `xml:"path"`
		} `xml:"g"`
	} `xml:"g"`
}

func parse(t *testing.T, text string) drawing {
	t.Helper()
	var d drawing
	decoder := xml.NewDecoder(strings.NewReader(text))
	if err := decoder.Decode(&d); err != nil {
		t.Fatal(err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		if _, err = decoder.Token(); err != io.EOF {
			t.Errorf("there is something after the drawing: %v", err)
		}
	}
	return d
}

// Each point is where the axes say: on logarithmic ones, a decade is as long as any other.
func TestPlot(t *testing.T) {
	p := plot{title: "A & B", x: "x", y: "y", axes: [2]axis{decades(10, 1000), linear(0.5, 1)}, curves: []curve{
		{name: "<one>", points: [][2]float64{{10, 0}, {100, 0.5}, {1000, 1}}},
		{name: "bound", points: [][2]float64{{10, 1}, {1000, 1}}, bound: true},
	}}
	d := parse(t, svg(p, p))
	if len(d.Plots) != 2 {
		t.Fatalf("%d plots, want 2", len(d.Plots))
	}
	drawn := d.Plots[1]
	if len(drawn.Curves) != 2 || drawn.Curves[0].Title != "<one>" || len(drawn.Curves[0].Marks) != 3 || len(drawn.Curves[1].Marks) != 0 {
		t.Fatalf("curves: %+v", drawn.Curves)
	}
	middle := [2]float64{(left + right) / 2, (top + bottom) / 2}
	want := fmt.Sprintf("%.1f,%.1f %.1f,%.1f %.1f,%.1f ", left, bottom, middle[0], middle[1], right, top)
	if got := drawn.Curves[0].Line.Points; got != want {
		t.Errorf("points %s, want %s", got, want)
	}
	if got, want := drawn.Curves[0].Marks[1].At, fmt.Sprintf("translate(%.1f %.1f)", middle[0], middle[1]); got != want {
		t.Errorf("the second mark is at %s, want %s", got, want)
	}
	for _, text := range []string{"A & B", "x", "y", "10", "100", "1,000", "0", "0.5", "1", "<one>", "bound"} {
		if !slices.Contains(drawn.Text, text) {
			t.Errorf("no text %q in %q", text, drawn.Text)
		}
	}
}

// The curves of a report are its figures.
func TestPlots(t *testing.T) {
	r := &report{
		Rounds: []roundRow{
			{Way: quietRound, Leases: 10, WriteRate: 7, Month: 7}, {Way: sessionMean, Leases: 10, WriteRate: 1, Month: 10},
			{Way: sessionMean, Leases: 1000, WriteRate: 1, Month: 10}, {Way: "each item", Leases: 10, WriteRate: 10, Month: 100},
		},
		Takeovers: []takeoverRow{{Event: "crash", TTL: 10, Seconds: []float64{5, 10}, Target: 15}, {Event: "stop", TTL: 10, Seconds: []float64{1, 2}, Target: 4}},
	}
	cost := parse(t, r.costPlot())
	if len(cost.Plots) != 2 || len(cost.Plots[0].Curves) != 2 || cost.Plots[0].Curves[0].Title != sessionMean {
		t.Fatalf("plots: %+v", cost.Plots)
	}
	// Of 10 to 100 dollars, the sessions are at the least, from the first to the last number of leases.
	if got, want := cost.Plots[0].Curves[0].Line.Points, fmt.Sprintf("%.1f,%.1f %.1f,%.1f ", left, bottom, right, bottom); got != want {
		t.Errorf("sessions at %s, want %s", got, want)
	}
	ends := parse(t, r.takeoverPlot())
	if len(ends.Plots) != 1 || len(ends.Plots[0].Curves) != 4 || len(ends.Plots[0].Curves[0].Marks) != 2 {
		t.Fatalf("plots: %+v", ends.Plots)
	}
	// 10 s are a ttl, and the axis ends at 1.5.
	if got, want := ends.Plots[0].Curves[0].Marks[1].At, fmt.Sprintf("translate(%.1f %.1f)", right, bottom-(bottom-top)/1.5); got != want {
		t.Errorf("the second crash is at %s, want %s", got, want)
	}
}
