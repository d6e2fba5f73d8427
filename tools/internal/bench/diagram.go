package bench

import (
	"bytes"
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	fontSize = 11
	margin   = 8
)

// ink is readable on a light ground and on a dark one, as the colours of the curves are.
func ink() color.Color { return color.NRGBA{0x7d, 0x85, 0x90, 0xff} }

func colours() []color.Color {
	return []color.Color{
		color.NRGBA{0x2f, 0x81, 0xf7, 0xff}, color.NRGBA{0xd9, 0x73, 0x0d, 0xff}, color.NRGBA{0x2d, 0xa4, 0x4e, 0xff},
		color.NRGBA{0xbf, 0x4b, 0x8a, 0xff}, color.NRGBA{0x8a, 0x63, 0xd2, 0xff},
	}
}

// A diagram is a plot whose curves are labelled where they are.
type diagram struct {
	*plot.Plot
	labels *endLabels
	curves int
}

// newDiagram returns a diagram without curves. The title says what the vertical axis is.
func newDiagram(title, x string) *diagram {
	d := &diagram{Plot: plot.New(), labels: new(endLabels)}
	d.BackgroundColor = nil
	d.Title.Text, d.X.Label.Text = title, x
	d.Title.Padding, d.X.Padding, d.Y.Padding = 10, 4, 4
	style(&d.Title.TextStyle, fontSize+2)
	for _, axis := range []*plot.Axis{&d.X, &d.Y} {
		style(&axis.Label.TextStyle, fontSize)
		style(&axis.Tick.Label, fontSize)
		axis.Color, axis.Tick.Color = ink(), ink()
	}
	d.Add(grid(), d.labels)
	return d
}

func style(s *draw.TextStyle, size vg.Length) {
	s.Color, s.Font = ink(), font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// colour returns the colour of the next curve.
func (d *diagram) colour() color.Color {
	list := colours()
	d.curves++
	return list[(d.curves-1)%len(list)]
}

// logarithmic has both axes logarithmic, from one power of ten to another. Call it when all curves
// are there.
func (d *diagram) logarithmic() {
	for _, axis := range []*plot.Axis{&d.X, &d.Y} {
		axis.Scale, axis.Tick.Marker = plot.LogScale{}, decades{}
		axis.Min = math.Pow(10, math.Floor(math.Log10(axis.Min)))
		axis.Max = math.Pow(10, math.Ceil(math.Log10(axis.Max)))
	}
}

// percent has the vertical axis go from 0 to 100 %.
func (d *diagram) percent() { d.Y.Min, d.Y.Max, d.Y.Tick.Marker = 0, 100, every{25} }

// decades marks the powers of ten.
type decades struct{}

// Ticks implements [plot.Ticker].
func (decades) Ticks(least, most float64) []plot.Tick {
	var ticks []plot.Tick
	for v := math.Pow(10, math.Ceil(math.Log10(least)-1e-9)); v <= most*(1+1e-9); v *= 10 {
		ticks = append(ticks, tick(v))
	}
	return ticks
}

// every marks the multiples of a step.
type every struct{ step float64 }

// Ticks implements [plot.Ticker].
func (e every) Ticks(least, most float64) []plot.Tick {
	var ticks []plot.Tick
	for v := e.step * math.Ceil(least/e.step); v <= most+e.step*1e-9; v += e.step {
		ticks = append(ticks, tick(v))
	}
	return ticks
}

func tick(v float64) plot.Tick { return plot.Tick{Value: v, Label: grouped(int(math.Round(v)))} }

// svg draws diagrams below each other, each of this size.
func svg(width, height vg.Length, diagrams ...*diagram) (string, error) {
	n := vg.Length(len(diagrams))
	canvas := vgsvg.New(width, height*n)
	whole := draw.New(canvas)
	for i, d := range diagrams {
		top := whole.Max.Y - vg.Length(i)*height
		part := draw.Canvas{Canvas: whole.Canvas, Rectangle: whole.Rectangle}
		part.Min.X, part.Max.Y, part.Min.Y = margin, top-margin, top-height+margin
		d.Draw(part)
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return "", fmt.Errorf("write the drawing: %w", err)
	}
	// Where there is no Liberation Sans, others have its measures.
	return string(bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"),
		[]byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))), nil
}
