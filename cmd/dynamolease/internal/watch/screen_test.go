package watch

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/vt"
)

// terminal returns a terminal that was sent this text. It begins each line at the left, as the
// kernel's settings have it.
func terminal(t *testing.T, written string, width, height int) *vt.Emulator {
	t.Helper()
	e := vt.NewEmulator(width, height)
	if _, err := e.WriteString(strings.ReplaceAll(written, "\n", "\r\n")); err != nil {
		t.Fatal(err)
	}
	return e
}

// The screen shows each look, and the terminal is left as it was.
func TestScreen(t *testing.T) {
	change := func(c *Config) { c.Style, c.options = Mono, []tea.ProgramOption{tea.WithWindowSize(80, 24)} }
	inScene(t, change, func(s *scene) {
		a := s.open("a")
		s.take(a, 0, 1, 2)
		s.begin()
		written := s.out.take()
		first := terminal(t, written, 80, 24)
		if !first.IsAltScreen() || !strings.Contains(first.String(), "\n0  111") || !strings.Contains(first.String(), "service shop") {
			s.Errorf("the screen shows %s", first)
		}
		s.give(a, 1)
		time.Sleep(s.cfg.Interval)
		written += s.out.take()
		if next := terminal(t, written, 80, 24); !strings.Contains(next.String(), "\n0  1.1") || !strings.Contains(next.String(), "orders/1  a -> nobody") {
			s.Errorf("the screen shows %s", next)
		}
		if err := s.stop(); err != nil {
			s.Error(err)
		}
		if last := terminal(t, written+s.out.take(), 80, 24); last.IsAltScreen() || last.CursorHidden() || strings.TrimSpace(last.String()) != "" {
			s.Errorf("the terminal is left with %s", last)
		}
	})
}

func TestKeys(t *testing.T) {
	key := func(r rune, mod tea.KeyMod) tea.Msg { return tea.KeyPressMsg{Code: r, Mod: mod} }
	for _, test := range []struct {
		name string
		msg  tea.Msg
		want tea.Msg
	}{
		{"q", key('q', 0), tea.QuitMsg{}},
		{"Ctrl-C", key('c', tea.ModCtrl), tea.QuitMsg{}},
		{"Ctrl-Z", key('z', tea.ModCtrl), tea.SuspendMsg{}},
		{"Ctrl-L", key('l', tea.ModCtrl), tea.ClearScreen()},
		{"x", key('x', 0), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, cmd := model{}.Update(test.msg)
			var got tea.Msg
			if cmd != nil {
				got = cmd()
			}
			if fmt.Sprintf("%T", got) != fmt.Sprintf("%T", test.want) {
				t.Errorf("got %T, want %T", got, test.want)
			}
		})
	}
}

// The picture follows the size of the terminal, and is empty until there is a snapshot.
func TestModelIsResized(t *testing.T) {
	var m tea.Model = model{theme: mono()}
	if v := m.View(); v.Content != "" || !v.AltScreen {
		t.Errorf("at first it shows %q", v.Content)
	}
	for _, msg := range []tea.Msg{sample(), tea.WindowSizeMsg{Width: 80, Height: 24}, tea.WindowSizeMsg{Width: 20, Height: 5}} {
		m, _ = m.Update(msg)
	}
	if got, want := m.View().Content, draw(sample(), 20, 5, mono()); got != want {
		t.Errorf("it shows\n%s\nwant\n%s", got, want)
	}
}
