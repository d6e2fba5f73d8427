package dynamotest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"
)

// Send sends a request on its way to the server, and may be called any number of times. The response's
// body is in memory and need not be closed.
type Send func(*http.Request) (*http.Response, error)

// Fault is what happens to a request in place of just sending it. It must not change req, but may send
// on a clone of it.
type Fault func(req *http.Request, send Send) (*http.Response, error)

// All has all the faults happen: the first decides what becomes of the second, and so on. It is no fault
// at all without any.
func All(faults ...Fault) Fault {
	return func(req *http.Request, send Send) (*http.Response, error) {
		for i := len(faults) - 1; i >= 0; i-- {
			fault, next := faults[i], send
			send = func(req *http.Request) (*http.Response, error) { return fault(req, next) }
		}
		return send(req)
	}
}

// LoseRequest does not send the request; the client sees the connection reset.
func LoseRequest() Fault {
	return func(*http.Request, Send) (*http.Response, error) { return nil, reset("write") }
}

// LoseResponse sends the request, even if its context ends meanwhile, and loses the answer; the client
// sees the connection reset. It fails as the sending does if the server cannot be reached.
func LoseResponse() Fault {
	return func(req *http.Request, send Send) (*http.Response, error) {
		if _, err := send(uncancelled(req)); err != nil {
			return nil, err
		}
		return nil, reset("read")
	}
}

// Hang does not send the request; the client waits until its context ends.
func Hang() Fault {
	return func(req *http.Request, _ Send) (*http.Response, error) { return nil, wait(req, nil) }
}

// HangAfter sends the request, even if its context ends meanwhile, but no answer ever comes, not even an
// error; the client waits until its context ends.
func HangAfter() Fault {
	return func(req *http.Request, send Send) (*http.Response, error) {
		_, _ = send(uncancelled(req))
		return nil, wait(req, nil)
	}
}

// Delay waits for d before it sends the request. A request whose context ends meanwhile is not sent.
func Delay(d time.Duration) Fault {
	return func(req *http.Request, send Send) (*http.Response, error) {
		if err := pause(req, d); err != nil {
			return nil, err
		}
		return send(req)
	}
}

// DelayResponse sends the request, even if its context ends meanwhile, and waits for d or until the
// context ends before the client gets the answer.
func DelayResponse(d time.Duration) Fault {
	return func(req *http.Request, send Send) (*http.Response, error) {
		resp, err := send(uncancelled(req))
		if waitErr := pause(req, d); waitErr != nil {
			return nil, waitErr
		}
		return resp, err
	}
}

// Late delivers the request when deliver is closed, whatever became of its context. The client sees the
// connection reset at once; for a client that waits for its deadline, use All(HangAfter(), Late(deliver)).
// Transport.Close waits for the delivery, or drops the request if deliver is not closed by then.
func Late(deliver <-chan struct{}) Fault {
	return func(req *http.Request, send Send) (*http.Response, error) {
		t := transportOf(req.Context())
		if t == nil {
			return nil, errors.New("deliver late: the request did not come through a Transport")
		}
		late := uncancelled(req)
		started := t.goLate(func() {
			if wait(late, deliver) == nil {
				_, _ = send(late)
			}
		})
		if !started {
			return nil, errTransportClosed
		}
		return nil, reset("read")
	}
}

// Twice sends the request twice, one after the other, and the client gets the second answer.
func Twice() Fault {
	return func(req *http.Request, send Send) (*http.Response, error) {
		if _, err := send(req); err != nil {
			return nil, err
		}
		return send(req)
	}
}

// Around calls before ahead of sending the request and after when it is answered or has failed. Either
// may be nil. Both may block, as another client's request does.
func Around(before, after func()) Fault {
	return func(req *http.Request, send Send) (*http.Response, error) {
		if before != nil {
			before()
		}
		resp, err := send(req)
		if after != nil {
			after()
		}
		return resp, err
	}
}

// uncancelled returns the request with a context that never ends.
func uncancelled(req *http.Request) *http.Request {
	return req.WithContext(context.WithoutCancel(req.Context()))
}

// reset is the error of a connection that the other side dropped.
func reset(op string) error {
	return &net.OpError{Op: op, Net: "tcp", Err: os.NewSyscallError(op, syscall.ECONNRESET)}
}

// pause waits for d, or returns an error when the request's context ends or its Transport is closed.
func pause(req *http.Request, d time.Duration) error {
	done := make(chan struct{})
	timer := time.AfterFunc(d, func() { close(done) })
	defer timer.Stop()
	return wait(req, done)
}

// wait waits until done is closed, which nil never is, or returns an error when the request's
// context ends or its Transport is closed. Done comes first if it is closed as well.
func wait(req *http.Request, done <-chan struct{}) error {
	var closing chan struct{}
	if t := transportOf(req.Context()); t != nil {
		closing = t.closing
	}
	var err error
	select {
	case <-done:
		return nil
	case <-req.Context().Done():
		err = context.Cause(req.Context())
	case <-closing:
		err = errTransportClosed
	}
	select {
	case <-done:
		return nil
	default:
		return err
	}
}
