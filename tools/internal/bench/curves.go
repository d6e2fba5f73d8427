package bench

import (
	"fmt"
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func grid() plot.Plotter {
	g, faint := plotter.NewGrid(), color.NRGBA{0x7d, 0x85, 0x90, 0x50}
	g.Vertical.Color, g.Horizontal.Color = faint, faint
	return g
}

// line adds a curve, with its names at its right end.
func (d *diagram) line(c curve) error {
	l, marks, err := plotter.NewLinePoints(c.points)
	if err != nil {
		return fmt.Errorf("%s: %w", c.names[0], err)
	}
	colour := d.colour()
	l.Color, l.Width = colour, vg.Points(1.8)
	marks.GlyphStyle = dot(colour)
	d.Add(l, marks)
	d.labels.add(c.points[len(c.points)-1], strings.Join(c.names, "\n"), colour)
	return nil
}

// distribution adds the share of the events that were over by each time, with a dot for each event,
// and the target as a vertical line.
func (d *diagram) distribution(name string, seconds []float64, target float64) error {
	steps := shares(seconds)
	l, err := plotter.NewLine(append(plotter.XYs{{X: steps[0].X}}, steps...))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	marks, err := plotter.NewScatter(steps)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	goal, err := plotter.NewLine(plotter.XYs{{X: target, Y: 0}, {X: target, Y: 100}})
	if err != nil {
		return fmt.Errorf("%s: target: %w", name, err)
	}
	colour := d.colour()
	l.Color, l.Width, l.StepStyle = colour, vg.Points(1.8), plotter.PostStep
	marks.GlyphStyle = dot(colour)
	goal.Color, goal.Width, goal.Dashes = colour, vg.Points(1), []vg.Length{4, 3}
	d.Add(goal, l, marks)
	if err := d.note(l.XYs[len(l.XYs)/2], -14, draw.XRight, name, colour); err != nil {
		return err
	}
	return d.note(plotter.XY{X: target, Y: 8}, 5, draw.XLeft, fmt.Sprintf("target %.1f s", target), colour)
}

// shares returns the part of the events, in percent, that was over by the time of each.
func shares(seconds []float64) plotter.XYs {
	sorted := slices.Sorted(slices.Values(seconds))
	points := make(plotter.XYs, len(sorted))
	for i, s := range sorted {
		points[i] = plotter.XY{X: s, Y: 100 * float64(i+1) / float64(len(sorted))}
	}
	return points
}

// note writes text beside a point.
func (d *diagram) note(at plotter.XY, offset vg.Length, align draw.XAlignment, text string, colour color.Color) error {
	labels, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{at}, Labels: []string{text}})
	if err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	s := &labels.TextStyle[0]
	style(s, fontSize)
	s.Color, s.XAlign, s.YAlign = colour, align, draw.YCenter
	labels.Offset = vg.Point{X: offset}
	d.Add(labels)
	return nil
}

func dot(colour color.Color) draw.GlyphStyle {
	return draw.GlyphStyle{Color: colour, Radius: vg.Points(2.4), Shape: draw.CircleGlyph{}}
}
