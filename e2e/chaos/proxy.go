//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// A mode says what a proxy does with the data that passes through it.
type mode int

const (
	pass    mode = iota
	hang         // the proxy passes nothing on, and reports no error
	reset        // the proxy resets connections
	laggard      // the proxy passes data on late
)

const lag = 400 * time.Millisecond

// A proxy connects one process to the database.
type proxy struct {
	target   string
	listener *net.TCPListener
	running  sync.WaitGroup

	mu      sync.Mutex
	mode    mode
	changed chan struct{} // closed when the mode changes
	open    map[*net.TCPConn]bool
	closed  bool
}

func newProxy(target string) (*proxy, error) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fmt.Errorf("listen for a proxy: %w", err)
	}
	p := &proxy{target: target, listener: l, changed: make(chan struct{}), open: make(map[*net.TCPConn]bool)}
	p.running.Go(p.accept)
	return p, nil
}

func (p *proxy) address() string { return p.listener.Addr().String() }

// set changes the mode. The mode applies to open connections at once.
func (p *proxy) set(m mode) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = m
	close(p.changed)
	p.changed = make(chan struct{})
	if m == reset {
		p.cut()
	}
}

// cut resets all connections. The caller has the mutex.
func (p *proxy) cut() {
	for conn := range p.open {
		_ = conn.SetLinger(0) // so that the peer gets a reset
		_ = conn.Close()
	}
}

// close ends the proxy, and returns when all its goroutines have ended.
func (p *proxy) close() {
	p.mu.Lock()
	p.closed = true
	p.mode = pass
	close(p.changed)
	p.changed = make(chan struct{})
	p.cut()
	p.mu.Unlock()
	_ = p.listener.Close()
	p.running.Wait()
}

// add notes an open connection, and reports whether it may be used.
func (p *proxy) add(conn *net.TCPConn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.mode == reset {
		_ = conn.SetLinger(0)
		_ = conn.Close()
		return false
	}
	p.open[conn] = true
	return true
}

func (p *proxy) remove(conn *net.TCPConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, conn)
	_ = conn.Close()
}

func (p *proxy) accept() {
	for {
		conn, err := p.listener.AcceptTCP()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil && p.add(conn) {
			p.running.Go(func() { p.serve(conn) })
		}
	}
}

func (p *proxy) serve(client *net.TCPConn) {
	defer p.remove(client)
	var dialer net.Dialer
	conn, err := dialer.DialContext(context.Background(), "tcp", p.target)
	if err != nil {
		_ = client.SetLinger(0) // the database is down
		return
	}
	server := conn.(*net.TCPConn)
	if !p.add(server) {
		return
	}
	defer p.remove(server)
	var both sync.WaitGroup
	both.Go(func() { p.copy(server, client) })
	both.Go(func() { p.copy(client, server) })
	both.Wait()
}

// copy passes data on, according to the mode, until one side closes. Then it closes the other side.
func (p *proxy) copy(to, from *net.TCPConn) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			p.wait()
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if errors.Is(err, io.EOF) || err != nil {
			return
		}
	}
}

// wait delays data: for as long as the proxy hangs, or for the lag if it is a laggard.
func (p *proxy) wait() {
	for {
		p.mu.Lock()
		m, changed := p.mode, p.changed
		p.mu.Unlock()
		switch m {
		case hang:
			<-changed
			continue
		case laggard:
			timer := time.NewTimer(lag)
			select {
			case <-changed:
			case <-timer.C:
			}
			timer.Stop()
		}
		return
	}
}
