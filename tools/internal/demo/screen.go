package demo

import (
	"fmt"
	"io"
	"strings"
)

const (
	cellsPerRow = 16
	barWidth    = 30
	newsShown   = 8
)

// Control sequences of ANSI terminals. Without wrapping the terminal cuts lines that are too long
// for it, and the number of lines to go back up stays right.
const (
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
	wrapOff    = "\x1b[?7l"
	wrapOn     = "\x1b[?7h"
	clearRest  = "\x1b[K"
	bold       = "1"
	dim        = "2"
	red        = "31"
)

// workerColor returns the colour of a worker.
func workerColor(i int) string { return [...]string{"36", "33", "35", "32"}[i%4] }

// A screen is a view that draws over itself.
type screen struct {
	out   io.Writer
	color bool
	drawn int // lines of the latest picture
}

func (v *screen) show(s *snapshot) error {
	picture := v.picture(s)
	var b strings.Builder
	if v.drawn == 0 {
		b.WriteString(hideCursor + wrapOff)
	} else {
		fmt.Fprintf(&b, "\x1b[%dA", v.drawn)
	}
	for _, line := range picture {
		b.WriteString("\r" + line + clearRest + "\n")
	}
	v.drawn = len(picture)
	_, err := io.WriteString(v.out, b.String())
	return err
}

// close keeps the last picture on the screen.
func (v *screen) close() error {
	if v.drawn == 0 {
		return nil
	}
	_, err := io.WriteString(v.out, wrapOn+showCursor)
	return err
}

func (v *screen) picture(s *snapshot) []string {
	var p []string
	p = append(p, "")
	p = append(p, v.grid(s)...)
	p = append(p, "", v.paint(dim, "  number: the owner, · nobody   bar: how much of the partition is counted"), "")
	for i, w := range s.workers {
		p = append(p, v.worker(i, w))
	}
	p = append(p, "", v.bar(s), "")
	return append(p, v.latest(s)...)
}

// grid draws the partitions, each with the number of its owner in that worker's colour, and its
// progress.
func (v *screen) grid(s *snapshot) []string {
	var rows []string
	for first := 0; first < Partitions; first += cellsPerRow {
		var b strings.Builder
		for _, c := range s.cells[first : first+cellsPerRow] {
			b.WriteString("  " + v.cell(s, c))
		}
		rows = append(rows, b.String())
	}
	return rows
}

func (v *screen) cell(s *snapshot, c cell) string {
	switch {
	case c.owner == nobody:
		return v.paint(dim, "·"+c.bar())
	case !c.done && s.workers[c.owner].state != running:
		return v.paint(red, fmt.Sprint(c.owner+1)+c.bar())
	default:
		return v.paint(workerColor(c.owner), fmt.Sprint(c.owner+1)+c.bar())
	}
}

// bar rises with the progress of the partition. Only a complete one is full.
func (c cell) bar() string {
	heights := [...]string{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇"}
	if c.done {
		return "█"
	}
	return heights[min(c.files*len(heights)/max(1, c.size), len(heights)-1)]
}

func (v *screen) worker(i int, w workerState) string {
	state := fmt.Sprintf("%-8s", w.state)
	if w.state == killed || w.state == stopped {
		state = v.paint(red, state)
	}
	return fmt.Sprintf("  %s  %s  works on %2d   completed %2d", v.paint(workerColor(i), fmt.Sprintf("%d = %s", i+1, w.name)), state, w.open, w.closed)
}

func (v *screen) bar(s *snapshot) string {
	full := min(barWidth*s.files/max(1, s.size), barWidth)
	bar := v.paint(bold, strings.Repeat("█", full)) + v.paint(dim, strings.Repeat("░", barWidth-full))
	return fmt.Sprintf("  %s  %2d of %d complete  %9d words  %4.1f s", bar, s.done, Partitions, s.words, s.elapsed.Seconds())
}

// latest returns the last pieces of news, always on the same number of lines.
func (v *screen) latest(s *snapshot) []string {
	rows := make([]string, newsShown)
	for i, n := range s.news[max(0, len(s.news)-newsShown):] {
		rows[i] = fmt.Sprintf("  %4.1f s  %s", n.at.Seconds(), n.text)
	}
	return rows
}

func (v *screen) paint(code, text string) string {
	if !v.color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
