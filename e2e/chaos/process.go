//go:build linux

package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// taskEnv is the environment variable with the task of a process. If it is set, the test binary
// runs that process instead of the tests.
const taskEnv = "CHAOS_TASK"

// child is the main function of such a process. It ends when its standard input does: at the latest
// when its parent ends.
func child(env string) error {
	var t task
	if err := json.Unmarshal([]byte(env), &t); err != nil {
		return fmt.Errorf("decode the task: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	record, err := openRecorder(t.Record, t.Process)
	if err != nil {
		return err
	}
	if t.Boot {
		return fight(ctx, t, record)
	}
	return work(ctx, t, record)
}

// A process is one start of a node, seen from the driver.
type process struct {
	task
	cmd    *exec.Cmd
	stdin  io.Closer
	stderr bytes.Buffer
	gone   chan struct{}
	err    error // the error of the process, valid once gone is closed
	died   instant
	asleep bool
}

// spawn starts a process. The kernel kills it when the calling thread ends, so the caller must stay
// on that thread.
func spawn(t task) (*process, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("encode the task: %w", err)
	}
	p := &process{task: t, cmd: exec.Command(os.Args[0]), gone: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), taskEnv+"="+string(text))
	p.cmd.Stderr = &p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start %s: %w", t.Process, err)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", t.Process, err)
	}
	go func() {
		defer close(p.gone)
		p.err = p.cmd.Wait()
	}()
	return p, nil
}

// kill ends the process at once, even if it is stopped.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended by itself
	<-p.gone
	_ = p.stdin.Close()
	p.died = now()
}

func (p *process) signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("signal %s: %w", p.Process, err)
	}
	return nil
}

// ended reports whether the process has ended.
func (p *process) ended() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}
