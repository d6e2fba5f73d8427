package bench

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// A plot is one diagram.
type plot struct {
	title, x, y string // y says its unit
	axes        [2]axis
	curves      []curve
}

// An axis goes from least to most, with a line at each of the ticks.
type axis struct {
	log         bool
	least, most float64
	ticks       []float64
}

// A curve is points with a line between them. One that is a bound has a thin line, and no marks.
type curve struct {
	name   string
	points [][2]float64
	bound  bool
}

const (
	plotWidth, plotHeight = 520, 400
	left, right           = 70.0, 485.0
	top, bottom           = 40.0, 250.0
	legendLine            = 18
)

// Middling colours, that can be told from a light ground and from a dark one. Curves differ by their marks too.
const ink = "#7d8590"

var (
	colours = []string{"#2f81f7", "#d9730d", "#2da44e", "#bf4b8a", "#8a63d2"}
	marks   = []string{"M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0", "M-4-4h8v8h-8z", "M0-5l5 9h-10z", "M0-5l5 5l-5 5l-5-5z", "M0 5l5-9h-10z"}
	dashes  = []string{"none", "8 3", "3 3", "10 3 2 3", "1 4"}
)

// svg draws plots beside each other.
func svg(plots ...plot) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12" fill="%s">`+"\n",
		plotWidth*len(plots), plotHeight, ink)
	for i, p := range plots {
		fmt.Fprintf(&b, `<g transform="translate(%d 0)">`+"\n", i*plotWidth)
		p.draw(&b)
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (p plot) draw(b *strings.Builder) {
	words := func(x, y float64, anchor, text string) {
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, html.EscapeString(text))
	}
	line := func(x1, y1, x2, y2 float64) {
		fmt.Fprintf(b, `<path d="M%.1f %.1fL%.1f %.1f" stroke="%s" stroke-opacity="0.35"/>`+"\n", x1, y1, x2, y2, ink)
	}
	words((left+right)/2, top-18, "middle", p.title)
	words((left+right)/2, bottom+36, "middle", p.x)
	words(left-8, top-18, "middle", p.y)
	for _, tick := range p.axes[0].ticks {
		x := p.axes[0].at(tick, left, right)
		line(x, top, x, bottom)
		words(x, bottom+16, "middle", tickText(tick))
	}
	for _, tick := range p.axes[1].ticks {
		y := p.axes[1].at(tick, bottom, top)
		line(left, y, right, y)
		words(left-8, y+4, "end", tickText(tick))
	}
	for i, c := range p.curves {
		y := bottom + 58 + float64(i*legendLine)
		c.draw(b, i, [][2]float64{{left, y}, {left + 40, y}})
		words(left+50, y+4, "start", c.name)
		var points [][2]float64
		for _, point := range c.points {
			points = append(points, [2]float64{p.axes[0].at(point[0], left, right), p.axes[1].at(point[1], bottom, top)})
		}
		fmt.Fprintf(b, `<g class="curve"><title>%s</title>`+"\n", html.EscapeString(c.name))
		c.draw(b, i, points)
		b.WriteString("</g>\n")
	}
}

// draw draws a line through points, and a mark at each.
func (c curve) draw(b *strings.Builder, nth int, points [][2]float64) {
	colour, width := colours[nth%len(colours)], 2
	if c.bound {
		width = 1
	}
	fmt.Fprintf(b, `<polyline fill="none" stroke="%s" stroke-width="%d" stroke-dasharray="%s" points="`, colour, width, dashes[nth%len(dashes)])
	for _, p := range points {
		fmt.Fprintf(b, "%.1f,%.1f ", p[0], p[1])
	}
	b.WriteString(`"/>` + "\n")
	for _, p := range points {
		if !c.bound {
			fmt.Fprintf(b, `<path class="mark" transform="translate(%.1f %.1f)" d="%s" fill="%s"/>`+"\n", p[0], p[1], marks[nth%len(marks)], colour)
		}
	}
}

// at is where a value is between two ends of the picture.
func (a axis) at(value, from, to float64) float64 {
	least, most := a.least, a.most
	if a.log {
		value, least, most = math.Log(value), math.Log(least), math.Log(most)
	}
	return from + (value-least)/(most-least)*(to-from)
}

// decades is a logarithmic axis of whole powers of ten that has room for the values, which are above zero.
func decades(values ...float64) axis {
	a := axis{log: true, least: math.Inf(1)}
	for _, v := range values {
		a.least = min(a.least, math.Pow(10, math.Floor(math.Log10(v))))
		a.most = max(a.most, math.Pow(10, math.Ceil(math.Log10(v))))
	}
	if a.most == a.least {
		a.most *= 10
	}
	for tick := a.least; tick < a.most*1.1; tick *= 10 {
		a.ticks = append(a.ticks, tick)
	}
	return a
}

// linear is an axis from zero that has room for the values.
func linear(step float64, values ...float64) axis {
	most := step
	for _, v := range values {
		most = max(most, step*math.Ceil(v/step))
	}
	a := axis{most: most}
	for i := 0; float64(i)*step < most+step/2; i++ {
		a.ticks = append(a.ticks, float64(i)*step)
	}
	return a
}

func tickText(v float64) string {
	if v == math.Trunc(v) {
		return grouped(int(v))
	}
	return fmt.Sprintf("%.3g", v)
}
