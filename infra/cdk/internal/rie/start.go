package rie

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"testing"
	"time"
)

const (
	startTimeout  = 20 * time.Second
	startAttempts = 5
	probePeriod   = 5 * time.Millisecond
)

// errExited is returned if the emulator ends although nobody stopped it.
var errExited = errors.New("the emulator exited")

// A Function is a program that the emulator runs.
type Function struct {
	Bootstrap string            // absolute path of the executable
	Env       map[string]string // besides Lambda's own, and dummy credentials; wins over these
	Timeout   time.Duration     // of an invocation, in whole seconds; defaults to 10 seconds
}

// Start starts an emulator and returns when it can be invoked. When the test ends, the emulator is
// stopped, and its log is printed if the test failed. If the test process dies before that, the
// emulator ends the function and itself.
func Start(ctx context.Context, t testing.TB, f Function) *Process {
	t.Helper()
	program, err := emulator()
	if err != nil {
		t.Fatalf("build the Runtime Interface Emulator: %v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	p, err := start(ctx, program, f)
	if err != nil {
		t.Fatalf("start the Runtime Interface Emulator: %v", err)
	}
	t.Cleanup(func() {
		p.Stop()
		if t.Failed() {
			t.Logf("the function's log:\n%s", p.Logs())
		}
	})
	return p
}

// start chooses free ports. If another program takes one of them first, the emulator exits, and
// start tries the next ports.
func start(ctx context.Context, program string, f Function) (*Process, error) {
	var err error
	for range startAttempts {
		var addresses [2]string
		if addresses, err = freeAddresses(ctx); err != nil {
			return nil, err
		}
		p := newProcess(program, addresses, f)
		if err = p.launch(); err != nil {
			return nil, err
		}
		if err = p.awaitReady(ctx); err == nil {
			return p, nil
		}
		p.Stop()
		if !errors.Is(err, errExited) {
			return nil, err
		}
	}
	return nil, err
}

func newProcess(program string, addresses [2]string, f Function) *Process {
	p := &Process{
		url:    "http://" + addresses[0],
		out:    newLog(),
		exited: make(chan struct{}),
		client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	}
	p.cmd = exec.Command(program, "--runtime-interface-emulator-address", addresses[0], "--runtime-api-address", addresses[1], f.Bootstrap)
	p.cmd.Env = f.environment()
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	p.cmd.SysProcAttr = attributes()
	return p
}

// launch starts the process on a thread that lives as long as the process: the kernel tells the
// process when that thread ends.
func (p *Process) launch() error {
	started := make(chan error)
	go func() {
		defer close(p.exited)
		defer lockThread()()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // how it ended does not matter, only that it did
		}
	}()
	return <-started
}

// awaitReady returns when the emulator answers.
func (p *Process) awaitReady(ctx context.Context) error {
	ticker := time.NewTicker(probePeriod)
	defer ticker.Stop()
	for {
		_, _, err := p.get(ctx, http.MethodGet, p.url, nil)
		select {
		case <-p.exited:
			return fmt.Errorf("%w: %s", errExited, p.Logs())
		default:
		}
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("no answer: %w; last try: %w", context.Cause(ctx), err)
		case <-ticker.C:
		}
	}
}

// freeAddresses returns two local addresses at which no process listens.
func freeAddresses(ctx context.Context) (addresses [2]string, err error) {
	var config net.ListenConfig
	for i := range addresses {
		listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return addresses, fmt.Errorf("find a free port: %w", err)
		}
		defer listener.Close()
		addresses[i] = listener.Addr().String()
	}
	return addresses, nil
}
