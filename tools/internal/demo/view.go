package demo

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// A Style says how the view looks.
type Style int

const (
	Plain Style = iota // lines, for files and pipes
	Mono               // a picture that moves, without colours
	Color              // a picture that moves
)

// A view shows the progress of the run.
type view interface {
	show(*snapshot) error
	close() error
}

func newView(out io.Writer, style Style) view {
	if style == Plain {
		return &lines{out: out}
	}
	return &screen{out: out, color: style == Color}
}

// lineEvery is the time between plain lines on the progress.
const lineEvery = time.Second

// lines is a view of plain lines: one for each piece of news, and one every second.
type lines struct {
	out  io.Writer
	told int
	last time.Duration
}

func (l *lines) show(s *snapshot) error {
	var b strings.Builder
	for _, n := range s.news[l.told:] {
		fmt.Fprintf(&b, "%5.1fs  %s\n", n.at.Seconds(), n.text)
	}
	l.told = len(s.news)
	if s.elapsed-l.last >= lineEvery {
		l.last = s.elapsed
		fmt.Fprintf(&b, "%5.1fs  %d of %d files, %d of %d partitions complete;%s\n",
			s.elapsed.Seconds(), s.files, s.size, s.done, Partitions, owners(s))
	}
	if b.Len() == 0 {
		return nil
	}
	_, err := io.WriteString(l.out, b.String())
	return err
}

func (l *lines) close() error { return nil }

// owners counts the incomplete partitions of each worker.
func owners(s *snapshot) string {
	var b strings.Builder
	for _, w := range s.workers {
		fmt.Fprintf(&b, " %s has %d", w.name, w.open)
		if w.state != running {
			fmt.Fprintf(&b, " (%s)", w.state)
		}
	}
	return b.String()
}
