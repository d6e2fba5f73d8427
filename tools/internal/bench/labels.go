package bench

import (
	"cmp"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	labelGap   = 10 // from the end of a curve to its label
	labelSpace = 3  // between labels

	// widest is how much wider a text may be in the fonts of those who look at it.
	widest = 1.2
)

// endLabels are texts to the right of points. They keep a distance from each other, and a thin line
// leads to each.
type endLabels struct{ list []endLabel }

type endLabel struct {
	at    plotter.XY
	text  string
	style draw.TextStyle
}

func (l *endLabels) add(at plotter.XY, name string, colour color.Color) {
	s := draw.TextStyle{XAlign: draw.XLeft, YAlign: draw.YCenter, Handler: plot.DefaultTextHandler}
	style(&s, fontSize)
	s.Color = colour
	l.list = append(l.list, endLabel{at, name, s})
}

// Plot implements [plot.Plotter].
func (l *endLabels) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	list := slices.Clone(l.list)
	slices.SortStableFunc(list, func(a, b endLabel) int { return cmp.Compare(a.at.Y, b.at.Y) })
	middles, heights := make([]vg.Length, len(list)), make([]vg.Length, len(list))
	for i, label := range list {
		middles[i], heights[i] = toY(label.at.Y), label.style.Rectangle(label.text).Size().Y+labelSpace
	}
	spread(middles, heights, c.Min.Y, c.Max.Y)
	for i, label := range list {
		from, to := vg.Point{X: toX(label.at.X), Y: toY(label.at.Y)}, vg.Point{X: toX(label.at.X) + labelGap, Y: middles[i]}
		c.StrokeLine2(draw.LineStyle{Color: label.style.Color, Width: vg.Points(0.6)}, from.X, from.Y, to.X, to.Y)
		c.FillText(label.style, vg.Point{X: to.X + 3, Y: to.Y}, label.text)
	}
}

// GlyphBoxes implements [plot.GlyphBoxer]: it keeps room at the right.
func (l *endLabels) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	var boxes []plot.GlyphBox
	for _, label := range l.list {
		width := labelGap + 3 + widest*label.style.Rectangle(label.text).Size().X
		boxes = append(boxes, plot.GlyphBox{
			X: p.X.Norm(label.at.X), Y: p.Y.Norm(label.at.Y), Rectangle: vg.Rectangle{Max: vg.Point{X: width}},
		})
	}
	return boxes
}

// spread moves middles, which rise, until pieces of these heights do not overlap: up from the
// lowest, and then down from the highest. They stay between least and most if they fit.
func spread(middles, heights []vg.Length, least, most vg.Length) {
	floor := least
	for i, h := range heights {
		middles[i] = max(middles[i], floor+h/2)
		floor = middles[i] + h/2
	}
	ceiling := most
	for i := len(middles) - 1; i >= 0; i-- {
		middles[i] = min(middles[i], ceiling-heights[i]/2)
		ceiling = middles[i] - heights[i]/2
	}
}
