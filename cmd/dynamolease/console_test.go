//go:build unix

package main

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

const ctrlC = "\x03"

// A console is a terminal in which the command runs, as a process of its own.
type console struct {
	testing.TB
	cmd     *exec.Cmd
	tty     *os.File
	changed chan struct{} // has a value when there is more text
	ended   sync.WaitGroup

	mu     sync.Mutex
	text   bytes.Buffer // what was sent after the text that await has found
	screen *vt.Emulator // shows what was sent
}

// asProcess returns the command as a process of its own, with additional variables.
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
	c := &console{TB: t, cmd: cmd, changed: make(chan struct{}, 1), screen: vt.NewEmulator(cmp.Or(int(width), 80), cmp.Or(int(height), 24))}
	var err error
	if c.tty, err = pty.StartWithSize(c.cmd, &pty.Winsize{Cols: width, Rows: height}); err != nil {
		t.Fatal(err)
	}
	c.ended.Go(c.read)
	c.ended.Go(func() { _, _ = io.Copy(c.tty, c.screen) }) // answers to the process's questions
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		_ = c.tty.Close()
		_ = c.cmd.Wait() // an error, where the test has waited already
		c.ended.Wait()
	})
	return c
}

// read has the terminal show what the process sends, until the process ends.
func (c *console) read() {
	defer c.screen.InputPipe().(io.Closer).Close()
	b := make([]byte, 4096)
	for {
		n, err := c.tty.Read(b)
		c.mu.Lock()
		c.text.Write(b[:n])
		_, _ = c.screen.Write(b[:n])
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

// await waits for a text, returns everything before it, and forgets both.
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

// shows waits until the screen is good, and returns its lines.
func (c *console) shows(what string, good func(lines []string) bool) []string {
	c.Helper()
	limit := time.After(20 * time.Second)
	for {
		lines := c.lines()
		if good(lines) {
			return lines
		}
		select {
		case <-c.changed:
		case <-limit:
			c.Fatalf("the screen does not show %s:\n%s", what, strings.Join(lines, "\n"))
		}
	}
}

// lines returns the screen without the empty lines at its end.
func (c *console) lines() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := strings.Split(c.screen.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// isRestored reports whether the terminal is as it was before a picture.
func (c *console) isRestored() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.screen.IsAltScreen() && !c.screen.CursorHidden()
}

// wait waits for the end of the process, and returns its exit code and its last output.
func (c *console) wait() (code int, rest string) {
	c.Helper()
	err := c.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.Fatal(err)
	}
	c.ended.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cmd.ProcessState.ExitCode(), c.text.String()
}

// resize changes the size of the terminal, and tells the process.
func (c *console) resize(width, height uint16) {
	c.Helper()
	c.mu.Lock()
	c.screen.Resize(int(width), int(height))
	c.mu.Unlock()
	if err := pty.Setsize(c.tty, &pty.Winsize{Cols: width, Rows: height}); err != nil {
		c.Fatal(err)
	}
}

// open starts the command in a terminal of 100 x 30 characters.
func (f *fixture) open(args ...string) *console {
	f.Helper()
	return openConsole(f.TB, asProcess(f.TB, nil, args...), 100, 30)
}
