package dynamotest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

const (
	startTimeout  = 10 * time.Second
	startAttempts = 5
)

var errClosed = errors.New("the server is closed")

// child is a dynoxide server that can be killed and started again at the same port.
//
// One goroutine does all of that, on an operating system thread of its own, for two reasons. The kernel
// ends a child with the thread that forked it, so that thread must live as long as the child. And a test
// may kill and restart the server inside a synctest bubble, while the goroutines that look after the
// process must be outside of it. Hence all channels here are made by startChild.
type child struct {
	binary string
	dir    string
	port   int

	mu      sync.Mutex // one call at a time
	closed  bool
	calls   chan func() error
	results chan error
	done    chan struct{}

	process *process // touched by the goroutine only; nil when killed
}

// startChild starts the server at a free port and returns when it answers.
func startChild(ctx context.Context, binary, dir string) (*child, error) {
	if dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make database directory: %w", err)
		}
	}
	c := &child{
		binary:  binary,
		dir:     dir,
		calls:   make(chan func() error),
		results: make(chan error),
		done:    make(chan struct{}),
	}
	go c.run()
	if err := c.do(func() error { return c.startAtFreePort(ctx) }); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func (c *child) endpoint() string {
	return "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port))
}

func (c *child) kill() error { return c.do(c.stop) }

func (c *child) restart() error {
	return c.do(func() error {
		if err := c.stop(); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		return c.start(ctx)
	})
}

// close kills the server for good and ends the goroutine.
func (c *child) close() error {
	err := c.do(c.stop)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	close(c.calls)
	<-c.done
	return err
}

// do has the goroutine call f, and returns f's result.
func (c *child) do(f func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errClosed
	}
	c.calls <- f
	return <-c.results
}

func (c *child) run() {
	defer close(c.done)
	defer lockThread()()
	for f := range c.calls {
		c.results <- f()
	}
}

// startAtFreePort chooses a port and starts the server there. Someone else may take the port in between;
// then the server exits, and the next port is tried.
func (c *child) startAtFreePort(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var err error
	for range startAttempts {
		if c.port, err = freePort(ctx); err != nil {
			return err
		}
		if err = c.start(ctx); err == nil || !errors.Is(err, errExited) {
			return err
		}
	}
	return err
}

func (c *child) start(ctx context.Context) error {
	args := []string{"serve", "--host", "127.0.0.1", "--port", strconv.Itoa(c.port)}
	if c.dir != "" {
		args = append(args, "--db-path", filepath.Join(c.dir, "dynamodb.sqlite"))
	}
	p, err := startProcess(c.binary, args...)
	if err != nil {
		return err
	}
	if err := p.awaitReady(ctx, c.endpoint()); err != nil {
		return errors.Join(err, p.kill())
	}
	c.process = p
	return nil
}

func (c *child) stop() error {
	if c.process == nil {
		return nil
	}
	err := c.process.kill()
	c.process = nil
	return err
}

func freePort(ctx context.Context) (int, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		return 0, fmt.Errorf("free the port: %w", err)
	}
	return port, nil
}
