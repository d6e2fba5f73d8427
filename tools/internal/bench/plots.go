package bench

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// costPlot draws what each way costs and writes, by the number of leases.
func (r *report) costPlot() (string, error) {
	month, err := r.byLeases("Dollars a month", func(row roundRow) float64 { return row.Month })
	if err != nil {
		return "", err
	}
	writes, err := r.byLeases("Write units a second", func(row roundRow) float64 { return row.WriteRate })
	if err != nil {
		return "", err
	}
	return svg(vg.Points(640), vg.Points(280), month, writes)
}

// byLeases draws a value of all ways, on logarithmic axes. Ways with the same values share a line.
func (r *report) byLeases(title string, value func(roundRow) float64) (*diagram, error) {
	d := newDiagram(title, fmt.Sprintf("leases on %d nodes", fleetNodes))
	for _, c := range r.curves(value) {
		if err := d.line(c); err != nil {
			return nil, fmt.Errorf("plot %s: %w", title, err)
		}
	}
	d.logarithmic()
	return d, nil
}

// A curve is the values of one way or more.
type curve struct {
	names  []string
	points plotter.XYs
}

func (r *report) curves(value func(roundRow) float64) []curve {
	var list []curve
	for _, name := range r.billedWays() {
		c := curve{names: []string{name}}
		for _, row := range r.Rounds {
			if row.Way == name {
				c.points = append(c.points, plotter.XY{X: float64(row.Leases), Y: value(row)})
			}
		}
		same := func(other curve) bool { return slices.Equal(c.points, other.points) }
		if i := slices.IndexFunc(list, same); i >= 0 {
			list[i].names = append(list[i].names, name)
		} else {
			list = append(list, c)
		}
	}
	return list
}

// takeoverPlot draws the share of the take-overs that were done after each time, and the targets.
func (r *report) takeoverPlot() (string, error) {
	d := newDiagram("Take-overs that are done, %", fmt.Sprintf("seconds, at a ttl of %v s", r.Takeovers[0].TTL))
	d.percent()
	d.X.Min, d.X.Tick.Marker = 0, every{2}
	for _, t := range r.Takeovers {
		name := fmt.Sprintf("after a %s\n(%d events)", t.Event, len(t.Seconds))
		if err := d.distribution(name, t.Seconds, t.Target); err != nil {
			return "", fmt.Errorf("plot take-overs: %w", err)
		}
		d.X.Max = max(d.X.Max, 1.2*t.Target) // has room for what is written there
	}
	return svg(vg.Points(640), vg.Points(280), d)
}
