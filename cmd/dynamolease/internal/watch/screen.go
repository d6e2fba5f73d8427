package watch

import (
	"io"
	"strings"
)

const (
	enter     = "\x1b[?1049h\x1b[?25l\x1b[?7l" // another screen, no cursor, no wrapping
	leave     = "\x1b[?7h\x1b[?25h\x1b[?1049l"
	home      = "\x1b[H"
	clearAll  = "\x1b[2J"
	clearRest = "\x1b[K"
	clearDown = "\x1b[J"
)

// A screen is a view that fills the terminal, and draws over itself.
type screen struct {
	out   io.Writer
	size  func() (width, height int)
	color bool
	drawn bool
	clear bool // the terminal has another size than the latest picture
}

func (v *screen) show(s *snapshot) error {
	var b strings.Builder
	if !v.drawn {
		b.WriteString(enter)
		v.drawn, v.clear = true, true
	}
	b.WriteString(home)
	if v.clear {
		b.WriteString(clearAll)
		v.clear = false
	}
	width, height := v.size()
	for i, line := range picture(s, width, height) {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(line.render(v.color) + clearRest)
	}
	b.WriteString(clearDown)
	_, err := io.WriteString(v.out, b.String())
	return err
}

func (v *screen) resize() { v.clear = true }

func (v *screen) close() error {
	if !v.drawn {
		return nil
	}
	_, err := io.WriteString(v.out, leave)
	return err
}
