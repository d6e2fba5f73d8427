//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

func TestWatchOnATerminal(t *testing.T) {
	c := newFixture(t).seed().open("watch", "shop", "--interval", "200ms")
	c.await("\x1b[?1049h") // another screen
	c.await("\x1b[36m111\x1b[0m\x1b[33m222\x1b[0m")
	c.enter(ctrlC)
	code, rest := c.wait()
	if code != 0 || !strings.HasSuffix(rest, "\x1b[?7h\x1b[?25h\x1b[?1049l") {
		t.Errorf("code %d, the terminal is left with %q", code, rest)
	}
}

// It follows the terminal, to whatever size, and draws what fits.
func TestWatchIsResized(t *testing.T) {
	c := openConsole(t, asProcess(newFixture(t).seed(), []string{"NO_COLOR=1"}, "watch", "shop", "--interval", "100ms"), 100, 30)
	if lines := c.picture(); len(lines) < 8 || !strings.HasPrefix(lines[0], "service shop") {
		t.Errorf("drawn %q", lines)
	}
	for _, size := range []pty.Winsize{{Cols: 24, Rows: 6}, {Cols: 1, Rows: 1}, {Cols: 200, Rows: 60}, {Cols: 10, Rows: 50}, {Cols: 80, Rows: 24}} {
		c.resize(size.Cols, size.Rows)
		c.await("\x1b[2J") // drawn anew
		lines := c.picture()
		if len(lines) > int(size.Rows) {
			t.Errorf("%d lines on %d", len(lines), size.Rows)
		}
		for _, line := range lines {
			if len(line) > int(size.Cols) {
				t.Errorf("%q on %d columns", line, size.Cols)
			}
		}
		if text := strings.Join(lines, "\n"); size.Cols >= 80 && !strings.Contains(text, "111222") {
			t.Errorf("drawn %q on %d columns", text, size.Cols)
		}
	}
	c.enter(ctrlC)
	if code, rest := c.wait(); code != 0 || !strings.HasSuffix(rest, "\x1b[?7h\x1b[?25h\x1b[?1049l") {
		t.Errorf("code %d, the terminal is left with %q", code, rest)
	}
}

// A terminal that does not say how large it is gets a picture of the usual size.
func TestWatchOnATerminalWithoutASize(t *testing.T) {
	c := openConsole(t, asProcess(newFixture(t).seed(), nil, "watch", "shop", "--no-color"), 0, 0)
	for _, line := range c.picture() {
		if len(line) > 80 {
			t.Errorf("%q is longer than 80", line)
		}
	}
}

func TestWatchWithoutColors(t *testing.T) {
	f := newFixture(t).seed()
	for name, cmd := range map[string]*exec.Cmd{
		"by flag": asProcess(t, nil, "watch", "shop", "--no-color"), "by NO_COLOR": asProcess(t, []string{"NO_COLOR=1"}, "watch", "shop"),
	} {
		t.Run(name, func(t *testing.T) {
			c := openConsole(f, cmd, 100, 30)
			c.await("\x1b[?1049h")
			if text := strings.Join(c.picture(), "\n"); strings.Contains(text, "\x1b") || !strings.Contains(text, "111222") {
				t.Errorf("drawn %q", text)
			}
			if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if code, rest := c.wait(); code != 0 || strings.Contains(rest, "\x1b[0m") || !strings.HasSuffix(rest, "\x1b[?1049l") {
				t.Errorf("code %d, the terminal is left with %q", code, rest)
			}
		})
	}
}

// What cannot draw a picture gets lines, without control sequences, also where stdout alone is no terminal.
func TestWatchWithoutATerminal(t *testing.T) {
	f := newFixture(t).seed()
	const line = "a: 3 of orders; b: 3 of orders"
	for name, cmd := range map[string]*exec.Cmd{
		"TERM is dumb": asProcess(t, []string{"TERM=dumb"}, "watch", "shop"), "no TERM": asProcess(t, []string{"TERM="}, "watch", "shop"),
		"--plain": asProcess(t, nil, "watch", "shop", "--plain"),
	} {
		t.Run(name, func(t *testing.T) {
			c := openConsole(f, cmd, 100, 30)
			if before := c.await(line); strings.Contains(before, "\x1b") {
				t.Errorf("printed %q", before)
			}
			c.enter(ctrlC)
			if code, rest := c.wait(); code != 0 || strings.Contains(rest, "\x1b") {
				t.Errorf("code %d, %q", code, rest)
			}
		})
	}
	t.Run("a pipe", func(t *testing.T) {
		cmd := asProcess(t, nil, "watch", "shop")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		first, err := bufio.NewReader(out).ReadString('\n')
		if err != nil || !strings.HasSuffix(first, "  "+line+"\n") {
			t.Errorf("printed %q, %v", first, err)
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
}

// Ctrl-C while it waits says that the order stands, and how to go on.
func TestReleaseIsInterrupted(t *testing.T) {
	f := newFixture(t).seed()
	c := f.open("release", "orders", "2")
	c.await("orders/2 is held by a in session a#")
	c.await("Take it? [y/N] ")
	c.enter("y\n")
	c.await("ordered: waiting until session a#")
	c.enter(ctrlC)
	code, rest := c.wait()
	if code != 5 || !strings.Contains(rest, "interrupted; the order stands") || !strings.Contains(rest, "to go on: dynamolease release orders 2") {
		t.Errorf("code %d, %q", code, rest)
	}
	f.expect(0, "yes", "", "leases", "orders")
}

func TestNoIsTheDefault(t *testing.T) {
	c := newFixture(t).seed().open("reap")
	c.await("Reap? [y/N] ")
	c.enter("\n")
	if code, rest := c.wait(); code != 4 || !strings.Contains(rest, "not confirmed, nothing was changed") {
		t.Errorf("code %d, %q", code, rest)
	}
}
