//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

func TestWatchOnATerminal(t *testing.T) {
	for name, key := range map[string]string{"q": "q", "Ctrl-C": ctrlC} {
		t.Run(name, func(t *testing.T) {
			c := newFixture(t).seed().open("watch", "shop", "--interval", "200ms")
			c.await("\x1b[?1049h") // another screen
			c.await("\x1b[36m111")
			c.shows("the partitions", func(lines []string) bool { return slices.Contains(lines, "0  111222") })
			c.enter(key)
			if code, _ := c.wait(); code != 0 || !c.isRestored() || len(c.lines()) > 0 {
				t.Errorf("code %d, the terminal is left with %q", code, c.lines())
			}
		})
	}
}

// The picture follows the terminal to any size.
func TestWatchIsResized(t *testing.T) {
	c := openConsole(t, asProcess(newFixture(t).seed(), []string{"NO_COLOR=1"}, "watch", "shop", "--interval", "100ms"), 100, 30)
	c.shows("the service", func(lines []string) bool { return len(lines) >= 8 && strings.HasPrefix(lines[0], "service shop") })
	for _, size := range []pty.Winsize{{Cols: 24, Rows: 6}, {Cols: 200, Rows: 60}, {Cols: 10, Rows: 50}, {Cols: 80, Rows: 24}} {
		c.resize(size.Cols, size.Rows)
		head := "service shop"[:min(10, size.Cols)]
		c.shows("what fits", func(lines []string) bool {
			whole := size.Cols < 80 || slices.Contains(lines, "0  111222")
			return whole && len(lines) >= min(6, int(size.Rows)) && strings.HasPrefix(lines[0], head)
		})
	}
	c.enter(ctrlC)
	if code, _ := c.wait(); code != 0 || !c.isRestored() {
		t.Errorf("code %d, the terminal is left with %q", code, c.lines())
	}
}

// A terminal that does not say how large it is gets a picture of the usual size.
func TestWatchOnATerminalWithoutASize(t *testing.T) {
	c := openConsole(t, asProcess(newFixture(t).seed(), nil, "watch", "shop", "--no-color"), 0, 0)
	c.shows("the partitions", func(lines []string) bool { return slices.Contains(lines, "0  111222") })
}

func TestWatchWithoutColors(t *testing.T) {
	f := newFixture(t).seed()
	for name, cmd := range map[string]*exec.Cmd{
		"by flag": asProcess(t, nil, "watch", "shop", "--no-color"), "by NO_COLOR": asProcess(t, []string{"NO_COLOR=1"}, "watch", "shop"),
	} {
		t.Run(name, func(t *testing.T) {
			c := openConsole(f, cmd, 100, 30)
			c.shows("the partitions", func(lines []string) bool { return slices.Contains(lines, "0  111222") })
			if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			code, sent := c.wait()
			if styled := regexp.MustCompile("\x1b\\[[0-9;]+m").FindString(sent); code != 0 || styled != "" || !c.isRestored() {
				t.Errorf("code %d, the terminal was sent %q", code, sent)
			}
		})
	}
}

// An output that cannot show a picture gets lines without control sequences, also if only stdout is
// no terminal.
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

// After Ctrl-C during the wait, the command says that the order stands, and how to go on.
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
