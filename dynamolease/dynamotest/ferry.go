package dynamotest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"sync"
)

// A ferry takes requests out of synctest bubbles, and sends them over connections that stay open. An
// idle connection inside a bubble would stop the bubble's clock, and a new one for each request takes
// longer than most requests.
//
// Its goroutines and channels are those of the world outside, where newFerry is called. A goroutine of a
// bubble that waits for such a channel is not durably blocked: the bubble's clock stands still until
// the answer is there.
type ferry struct {
	transport http.RoundTripper
	idle      chan *boat
	wanted    chan struct{}
	closing   chan struct{}
	close     func() // ends the goroutines and waits for them; may be called more than once
}

// A boat takes one request at a time.
type boat struct {
	out  chan *http.Request
	back chan landing // has room for one
}

type landing struct {
	resp *http.Response // its body is in memory
	err  error
}

// mostIdle is how many boats wait for requests at most.
const mostIdle = 256

func newFerry(transport http.RoundTripper) *ferry {
	f := &ferry{transport: transport, idle: make(chan *boat, mostIdle), wanted: make(chan struct{}), closing: make(chan struct{})}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case <-f.closing:
				return
			case <-f.wanted:
			}
			b := &boat{make(chan *http.Request), make(chan landing, 1)}
			running.Go(func() { f.run(b) })
			f.moor(b)
		}
	})
	f.close = sync.OnceFunc(func() {
		close(f.closing)
		running.Wait()
	})
	return f
}

// moor gives a boat back. If there are too many, it stays without requests until close.
func (f *ferry) moor(b *boat) {
	select {
	case f.idle <- b:
	default:
	}
}

func (f *ferry) run(b *boat) {
	for {
		select {
		case <-f.closing:
			return
		case req := <-b.out:
			b.back <- f.cross(req)
		}
	}
}

// cross sends a request and reads the whole answer.
func (f *ferry) cross(req *http.Request) landing {
	resp, err := f.transport.RoundTrip(req)
	if err != nil {
		return landing{nil, err}
	}
	if _, err := wholeBody(resp); err != nil {
		return landing{nil, err}
	}
	return landing{resp, nil}
}

// RoundTrip implements http.RoundTripper. When the request's context ends, the request is on its way all
// the same, and may still arrive.
func (f *ferry) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := readBody(req)
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	// The context is of the bubble, and so is its channel.
	out, err := http.NewRequestWithContext(context.Background(), req.Method, req.URL.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	out.Header, out.Host, out.Close = req.Header, req.Host, req.Close
	b, err := f.board(out)
	if err != nil {
		return nil, err
	}
	select {
	case l := <-b.back:
		f.moor(b)
		return l.resp, l.err
	case <-req.Context().Done():
		go func() {
			<-b.back
			f.moor(b)
		}()
		return nil, context.Cause(req.Context())
	}
}

// board gives the request to a boat that is idle, or to a new one.
func (f *ferry) board(req *http.Request) (b *boat, err error) {
	select {
	case b = <-f.idle:
	default:
		select {
		case f.wanted <- struct{}{}:
		case <-f.closing:
			return nil, errClosed
		}
		select {
		case b = <-f.idle:
		case <-f.closing:
			return nil, errClosed
		}
	}
	select {
	case b.out <- req:
		return b, nil
	case <-f.closing:
		return nil, errClosed
	}
}
