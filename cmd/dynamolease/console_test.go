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
	"testing"
	"time"

	"github.com/creack/pty"
)

const ctrlC = "\x03"

// A console is a terminal in which the command runs, as a process of its own.
type console struct {
	testing.TB
	cmd     *exec.Cmd
	tty     *os.File
	changed chan struct{} // has a value when there is more text
	ended   chan struct{}

	mu   sync.Mutex
	text bytes.Buffer
}

// asProcess is the command as a process of its own, with these variables besides what the test has.
func asProcess(t testing.TB, env []string, args ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(append(os.Environ(), asCommand+"=1", "TERM=xterm-256color", "NO_COLOR="), env...)
	return cmd
}

// openConsole starts a process in a terminal.
func openConsole(t testing.TB, cmd *exec.Cmd, width, height uint16) *console {
	t.Helper()
	c := &console{TB: t, cmd: cmd, changed: make(chan struct{}, 1), ended: make(chan struct{})}
	var err error
	if c.tty, err = pty.StartWithSize(c.cmd, &pty.Winsize{Cols: width, Rows: height}); err != nil {
		t.Fatal(err)
	}
	go c.read()
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		_ = c.tty.Close()
		_ = c.cmd.Wait() // an error, where the test has waited already
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

// await waits until the terminal has been sent a text, forgets all that came until its end, and returns what came before it.
func (c *console) await(text string) string {
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
			return before
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

// picture waits for the end of the next picture, and returns its lines.
func (c *console) picture() []string {
	c.Helper()
	c.await("\x1b[H")
	text := strings.TrimPrefix(c.await("\x1b[J"), "\x1b[2J")
	return strings.Split(strings.NewReplacer("\x1b[K", "", "\r", "").Replace(text), "\n")
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

// resize gives the terminal another size, of which the process is told.
func (c *console) resize(width, height uint16) {
	c.Helper()
	if err := pty.Setsize(c.tty, &pty.Winsize{Cols: width, Rows: height}); err != nil {
		c.Fatal(err)
	}
}

// open starts the command in a terminal of 100 x 30 characters.
func (f *fixture) open(args ...string) *console {
	f.Helper()
	return openConsole(f.TB, asProcess(f.TB, nil, args...), 100, 30)
}
