package dynamotest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"
)

// announceGrace is how long an answer at our port is doubted when the process has not said that it listens.
const announceGrace = 500 * time.Millisecond

// errExited is returned when a process ends although nobody killed it.
var errExited = errors.New("the process exited")

// process is one run of a server program.
type process struct {
	cmd    *exec.Cmd
	out    *output
	exited chan struct{}
}

func startProcess(binary string, args ...string) (*process, error) {
	p := &process{
		cmd:    exec.Command(binary, args...),
		out:    &output{listening: make(chan struct{})},
		exited: make(chan struct{}),
	}
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	p.cmd.SysProcAttr = childAttributes()
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("run the program: %w", err)
	}
	go func() {
		defer close(p.exited)
		_ = p.cmd.Wait() // how it ended does not matter, only that it did
	}()
	return p, nil
}

// awaitReady returns when the process answers at endpoint.
//
// If another process took the port first, then it is that one which answers, and ours is about to exit.
// So an answer counts once ours has said that it listens. A version that says it in other words
// counts too, if it is still there a moment later.
func (p *process) awaitReady(ctx context.Context, endpoint string) error {
	var probing sync.WaitGroup
	defer probing.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answered := make(chan error, 1)
	probing.Go(func() { answered <- awaitAnswer(ctx, endpoint) })

	select {
	case <-p.exited:
		return fmt.Errorf("%w: %s", errExited, p.out)
	case err := <-answered:
		if err != nil {
			return err
		}
	}
	grace := time.NewTimer(announceGrace)
	defer grace.Stop()
	select {
	case <-p.exited:
		return fmt.Errorf("%w: %s", errExited, p.out)
	case <-p.out.listening:
	case <-grace.C:
	}
	return nil
}

// kill ends the process, if it still runs, and returns when it is gone.
func (p *process) kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill the server: %w", err)
	}
	<-p.exited
	return nil
}

// output keeps the first few lines that a process prints, for error messages.
type output struct {
	mu        sync.Mutex
	text      bytes.Buffer
	once      sync.Once
	listening chan struct{} // closed when the process says that it listens
}

const outputLimit = 4096

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if room := outputLimit - o.text.Len(); room > 0 {
		o.text.Write(b[:min(room, len(b))])
	}
	if bytes.Contains(o.text.Bytes(), []byte("listening on")) {
		o.once.Do(func() { close(o.listening) })
	}
	return len(b), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(bytes.TrimSpace(o.text.Bytes()))
}
