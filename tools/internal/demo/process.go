package demo

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// drainDelay is how long the output of a process that has ended is waited for.
const drainDelay = time.Second

// A process is a worker as its parent sees it.
type process struct {
	name   string
	cmd    *exec.Cmd
	stdin  io.Closer // its lifeline
	stderr tail
	exited chan struct{}
	err    error // of the process, once exited is closed
}

// startProcess starts a worker: command is the program and its arguments. On Linux the kernel ends the worker when the
// calling thread ends, so the caller must stay on it.
func startProcess(name string, command, env []string) (*process, error) {
	p := &process{name: name, cmd: exec.Command(command[0], command[1:]...), exited: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr = &p.stderr
	p.cmd.WaitDelay = drainDelay
	p.cmd.SysProcAttr = workerAttributes()
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p.stdin = stdin
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		defer close(p.exited)
		p.err = p.cmd.Wait()
	}()
	return p, nil
}

func (p *process) running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// kill ends the process with SIGKILL, also when it is stopped, and returns when it is gone.
func (p *process) kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill %s: %w", p.name, err)
	}
	<-p.exited
	return nil
}

// dismiss tells the process to end in its own time, by the end of its standard input. It may be called more than once.
func (p *process) dismiss() error { return ignoreClosed(p.stdin.Close()) }

// failure is the error of a process that has exited although it should not have, or otherwise than it should have.
func (p *process) failure() error {
	return fmt.Errorf("worker %s ended too early: %w\n%s", p.name, cmp.Or(p.err, errNoError), &p.stderr)
}

var errNoError = errors.New("without an error")

// close ends the process for good.
func (p *process) close() error {
	return errors.Join(p.kill(), p.dismiss())
}

func ignoreClosed(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

const tailSize = 16 << 10 // room for the stack that a panic prints

// A tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-tailSize):]
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.text))
}
