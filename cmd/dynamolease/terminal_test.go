//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// A console is a terminal in which the command runs, as a process of its own.
type console struct {
	*fixture
	cmd     *exec.Cmd
	tty     *os.File
	changed chan struct{} // has a value when there is more text
	ended   chan struct{}

	mu   sync.Mutex
	text bytes.Buffer
}

// open starts the command in a terminal of 100 x 30 characters.
func (f *fixture) open(args ...string) *console {
	f.Helper()
	program, err := os.Executable()
	if err != nil {
		f.Fatal(err)
	}
	c := &console{fixture: f, cmd: exec.CommandContext(f.Context(), program, args...), changed: make(chan struct{}, 1), ended: make(chan struct{})}
	c.cmd.Env = append(os.Environ(), asCommand+"=1", "TERM=xterm-256color", "NO_COLOR=")
	if c.tty, err = pty.StartWithSize(c.cmd, &pty.Winsize{Cols: 100, Rows: 30}); err != nil {
		f.Fatal(err)
	}
	go c.read()
	f.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		_ = c.tty.Close()
		<-c.ended
	})
	return c
}

func (c *console) read() {
	defer close(c.ended)
	b := make([]byte, 4096)
	for {
		n, err := c.tty.Read(b)
		c.mu.Lock()
		c.text.Write(b[:n])
		c.mu.Unlock()
		select {
		case c.changed <- struct{}{}:
		default:
		}
		if err != nil {
			return // the process has ended
		}
	}
}

// await waits until the terminal has been sent a text, and forgets all that came before its end.
func (c *console) await(text string) {
	c.Helper()
	limit := time.After(20 * time.Second)
	for {
		c.mu.Lock()
		before, after, found := strings.Cut(c.text.String(), text)
		if found {
			c.text.Reset()
			c.text.WriteString(after)
		}
		c.mu.Unlock()
		if found {
			return
		}
		select {
		case <-c.changed:
		case <-limit:
			c.Fatalf("no %q in %q", text, before)
		}
	}
}

func (c *console) enter(keys string) {
	c.Helper()
	if _, err := io.WriteString(c.tty, keys); err != nil {
		c.Fatal(err)
	}
}

// wait waits for the end of the process, and returns the exit code and what the terminal was sent last.
func (c *console) wait() (code int, rest string) {
	c.Helper()
	err := c.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.Fatal(err)
	}
	<-c.ended
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cmd.ProcessState.ExitCode(), c.text.String()
}

const ctrlC = "\x03"

func TestWatchOnATerminal(t *testing.T) {
	c := newFixture(t).seed().open("watch", "shop", "--interval", "200ms")
	c.await("\x1b[?1049h") // another screen
	c.await("\x1b[36m111\x1b[0m\x1b[33m222\x1b[0m")
	if err := pty.Setsize(c.tty, &pty.Winsize{Cols: 24, Rows: 6}); err != nil {
		t.Fatal(err)
	}
	c.await("\x1b[2J") // drawn anew
	c.await("\x1b[J")
	c.enter(ctrlC)
	code, rest := c.wait()
	if code != 0 || !strings.HasSuffix(rest, "\x1b[?7h\x1b[?25h\x1b[?1049l") {
		t.Errorf("code %d, the terminal is left with %q", code, rest)
	}
}

func TestWatchWithoutColors(t *testing.T) {
	c := newFixture(t).seed().open("watch", "shop", "--no-color")
	c.await("111222")
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code, rest := c.wait(); code != 0 || strings.Contains(rest, "\x1b[0m") || !strings.HasSuffix(rest, "\x1b[?1049l") {
		t.Errorf("code %d, the terminal is left with %q", code, rest)
	}
}

// Ctrl-C while it waits says that the order stands, and how to go on.
func TestReleaseIsInterrupted(t *testing.T) {
	c := newFixture(t).seed().open("release", "orders", "2")
	c.await("orders/2 is held by a in session a#")
	c.await("Take it? [y/N] ")
	c.enter("y\n")
	c.await("ordered: waiting until session a#")
	c.enter(ctrlC)
	code, rest := c.wait()
	if code != 5 || !strings.Contains(rest, "interrupted; the order stands") || !strings.Contains(rest, "to go on: dynamolease release orders 2") {
		t.Errorf("code %d, %q", code, rest)
	}
	c.expect(0, "yes", "", "leases", "orders")
}

func TestNoIsTheDefault(t *testing.T) {
	c := newFixture(t).seed().open("reap")
	c.await("Reap? [y/N] ")
	c.enter("\n")
	if code, rest := c.wait(); code != 4 || !strings.Contains(rest, "not confirmed, nothing was changed") {
		t.Errorf("code %d, %q", code, rest)
	}
}
