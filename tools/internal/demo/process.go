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

// drainDelay bounds the wait for the output of a process that has ended.
const drainDelay = time.Second

// A process is a worker from its parent's view.
type process struct {
	name   string
	cmd    *exec.Cmd
	stdin  io.Closer // its lifeline
	stderr tail
	exited chan struct{}
	err    error // of the process; readable after exited
}

// startProcess starts a worker with the program and the arguments of command. On Linux the kernel
// ends the worker with the calling thread, so the caller must stay on it.
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

// kill ends the process with SIGKILL, also a stopped one, and returns when it is gone.
func (p *process) kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill %s: %w", p.name, err)
	}
	<-p.exited
	return nil
}

// dismiss tells the process to end in its own time, by the end of its standard input. Further calls
// do nothing.
func (p *process) dismiss() error { return ignoreClosed(p.stdin.Close()) }

// failure returns the error of a process that has exited too early or with a failure.
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

const tailSize = 16 << 10 // enough for the stack of a panic

// A tail keeps the end of its input.
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
