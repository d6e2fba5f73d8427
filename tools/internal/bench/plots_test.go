package bench

import (
	"encoding/xml"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// figures is a report as far as the plots show it.
func figures() *report {
	return &report{
		Rounds: []roundRow{
			{Way: quietRound, Leases: 10, WriteRate: 7, Month: 7}, {Way: sessionMean, Leases: 10, WriteRate: 1, Month: 10},
			{Way: sessionMean, Leases: 1000, WriteRate: 1, Month: 10}, {Way: "each item", Leases: 10, WriteRate: 10, Month: 100},
			{Way: "each item", Leases: 1000, WriteRate: 1000, Month: 1000}, {Way: "a < b", Leases: 10, WriteRate: 10, Month: 90},
			{Way: "a < b", Leases: 1000, WriteRate: 1000, Month: 900},
		},
		Takeovers: []takeoverRow{
			{Event: "crash", TTL: 10, Seconds: []float64{5, 10}, Target: 15}, {Event: "stop", TTL: 10, Seconds: []float64{1, 2}, Target: 4},
		},
	}
}

// wordsIn returns what can be read in a drawing.
func wordsIn(t *testing.T, drawing string) []string {
	t.Helper()
	var list []string
	within := false
	for d := xml.NewDecoder(strings.NewReader(drawing)); ; {
		token, err := d.Token()
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			within = token.Name.Local == "text"
		case xml.CharData:
			if within {
				list = append(list, string(token))
			}
		case xml.EndElement:
			within = false
		}
	}
}

// The curves of a report are its figures. Ways with the same values share a curve, and sessions are
// shown by their mean.
func TestCurves(t *testing.T) {
	r := figures()
	writes := r.curves(func(row roundRow) float64 { return row.WriteRate })
	if len(writes) != 2 || !slices.Equal(writes[1].names, []string{"each item", "a < b"}) || writes[1].points[1] != (plotter.XY{X: 1000, Y: 1000}) {
		t.Errorf("writes: %+v", writes)
	}
	if months := r.curves(func(row roundRow) float64 { return row.Month }); len(months) != 3 || months[0].names[0] != sessionMean {
		t.Errorf("months: %+v", months)
	}
}

func TestSharesOfEvents(t *testing.T) {
	if got, want := shares([]float64{3, 1, 2, 9}), (plotter.XYs{{X: 1, Y: 25}, {X: 2, Y: 50}, {X: 3, Y: 75}, {X: 9, Y: 100}}); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Each curve is labelled, and each event is a dot.
func TestPlots(t *testing.T) {
	r := figures()
	cost, err := r.costPlot()
	if err != nil {
		t.Fatal(err)
	}
	for text, times := range map[string]int{sessionMean: 2, "each item": 2, "a < b": 2, "Dollars a month": 1, "Write units a second": 1, "1,000": 4} {
		if got := strings.Count(strings.Join(wordsIn(t, cost), "\n"), text); got != times {
			t.Errorf("%q is there %d times, want %d: %q", text, got, times, wordsIn(t, cost))
		}
	}
	ends, err := r.takeoverPlot()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"after a crash", "after a stop", "(2 events)", "target 15.0 s", "target 4.0 s", "100"} {
		if !slices.Contains(wordsIn(t, ends), text) {
			t.Errorf("no %q in %q", text, wordsIn(t, ends))
		}
	}
	if again, err := r.takeoverPlot(); err != nil || again != ends {
		t.Errorf("the same figures make another drawing: %v", err)
	}
}

func TestTicks(t *testing.T) {
	var labels []string
	for _, tick := range append(decades{}.Ticks(2.9, 10_000), every{5}.Ticks(0, 15)...) {
		labels = append(labels, tick.Label)
	}
	if got := strings.Join(labels, " "); got != "10 100 1,000 10,000 0 5 10 15" {
		t.Errorf("got %q", got)
	}
}

// Labels do not overlap, and stay within the diagram if they fit.
func TestSpread(t *testing.T) {
	for name, test := range map[string]struct{ middles, want []vg.Length }{
		"apart":         {[]vg.Length{10, 50, 90}, []vg.Length{10, 50, 90}},
		"together":      {[]vg.Length{50, 51, 52}, []vg.Length{50, 60, 70}},
		"at the top":    {[]vg.Length{99, 99, 100}, []vg.Length{75, 85, 95}},
		"at the bottom": {[]vg.Length{0, 0, 1}, []vg.Length{5, 15, 25}},
	} {
		t.Run(name, func(t *testing.T) {
			heights := []vg.Length{10, 10, 10}
			spread(test.middles, heights, 0, 100)
			for i := range test.want {
				if math.Abs(float64(test.middles[i]-test.want[i])) > 1e-9 {
					t.Errorf("got %v, want %v", test.middles, test.want)
					break
				}
			}
		})
	}
}
