package bench

// costPlot is what each way costs and writes, by the number of leases.
func (r *report) costPlot() string {
	month := r.byLeases("A fleet's month", "dollars", func(row roundRow) float64 { return row.Month })
	writes := r.byLeases("Write units a second", "units/s", func(row roundRow) float64 { return row.WriteRate })
	return svg(month, writes)
}

func (r *report) byLeases(title, unit string, value func(roundRow) float64) plot {
	p := plot{title: title, x: "leases on 10 nodes", y: unit}
	var xs, ys []float64
	for _, name := range r.billedWays() {
		c := curve{name: name}
		for _, row := range r.Rounds {
			if row.Way == name {
				c.points = append(c.points, [2]float64{float64(row.Leases), value(row)})
				xs, ys = append(xs, float64(row.Leases)), append(ys, value(row))
			}
		}
		p.curves = append(p.curves, c)
	}
	p.axes = [2]axis{decades(xs...), decades(ys...)}
	return p
}

// takeoverPlot is how long each take-over took, beside what it may take.
func (r *report) takeoverPlot() string {
	p := plot{title: "Until the last partition runs elsewhere", x: "events, the quickest first", y: "ttl"}
	var xs, ys []float64
	for _, t := range r.Takeovers {
		c := curve{name: "after a " + t.Event}
		bound := curve{name: "target after a " + t.Event, bound: true}
		for i, seconds := range t.Seconds {
			c.points = append(c.points, [2]float64{float64(i + 1), seconds / t.TTL})
			bound.points = append(bound.points, [2]float64{float64(i + 1), t.Target / t.TTL})
			xs, ys = append(xs, float64(i+1)), append(ys, seconds/t.TTL, t.Target/t.TTL)
		}
		p.curves = append(p.curves, c, bound)
	}
	p.axes = [2]axis{linear(1, xs...), linear(0.25, ys...)}
	return svg(p)
}
