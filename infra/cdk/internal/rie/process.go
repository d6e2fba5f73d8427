package rie

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// A Process is a running emulator. The function's own process starts with the first invocation.
type Process struct {
	url    string
	cmd    *exec.Cmd
	out    *log
	exited chan struct{}
	client *http.Client
}

// Invoke invokes the function. The error is about reaching the emulator. A failure of the function
// is in the body.
//
// On a busy machine the emulator may start the function before it listens for it. The function then
// ends without a word, and is invoked again.
func (p *Process) Invoke(ctx context.Context, payload []byte) (body []byte, status int, err error) {
	for range 3 {
		before := len(p.Logs())
		body, status, err = p.invoke(ctx, payload)
		if status != http.StatusBadGateway || !strings.Contains(p.Logs()[before:], "next invoke: Get") {
			break
		}
	}
	return body, status, err
}

func (p *Process) invoke(ctx context.Context, payload []byte) (body []byte, status int, err error) {
	return p.get(ctx, http.MethodPost, p.url+"/2015-03-31/functions/function/invocations", payload)
}

func (p *Process) get(ctx context.Context, method, url string, payload []byte) (body []byte, status int, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(payload))
	if err != nil {
		return nil, 0, err
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	return body, resp.StatusCode, err
}

// Logs returns what the emulator and the function have printed so far.
func (p *Process) Logs() string { return p.out.String() }

// Await waits until a line of the log contains the text, and returns that line. It fails if ctx
// ends or the emulator ends first.
func (p *Process) Await(ctx context.Context, text string) (string, error) {
	return p.out.await(ctx, p.exited, text)
}

// Signal sends a signal to the emulator. On SIGTERM, the emulator ends the function and then
// itself, as Lambda does when it needs a process no more.
func (p *Process) Signal(signal os.Signal) error { return p.cmd.Process.Signal(signal) }

// Exited returns a channel that is closed when the emulator has ended and the log is complete.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// SignalFunction sends a signal to the process of the function. Invoke the function first.
func (p *Process) SignalFunction(signal syscall.Signal) error {
	children, err := childrenOf(p.cmd.Process.Pid)
	if err != nil {
		return err
	}
	if len(children) != 1 {
		return fmt.Errorf("the emulator has %d processes, not one", len(children))
	}
	return syscall.Kill(children[0], signal)
}

// Stop kills the function and the emulator at once, and returns when they are gone. It may be
// called more than once.
func (p *Process) Stop() {
	select {
	case <-p.exited:
		return
	default:
	}
	children, _ := childrenOf(p.cmd.Process.Pid)
	for _, child := range children {
		_ = syscall.Kill(-child, syscall.SIGKILL) // the function leads a group of its own
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.exited
	p.client.CloseIdleConnections()
}
