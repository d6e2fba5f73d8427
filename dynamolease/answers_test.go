package dynamolease_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/dynamolease/processlease"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

// nameless takes the request id off an answer.
func nameless(answer dynamotest.Fault) dynamotest.Fault {
	return func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
		response, err := answer(req, send)
		if err == nil {
			response.Header.Del("X-Amzn-Requestid")
		}
		return response, err
	}
}

// dated sets the date of an answer.
func dated(answer dynamotest.Fault, off time.Duration) dynamotest.Fault {
	return func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
		response, err := answer(req, send)
		if err == nil {
			response.Header.Set("Date", httpDate(time.Now().Add(off)))
		}
		return response, err
	}
}

var sent = dynamotest.All() // no fault at all

var signatureExpired = dynamotest.Reply(400, "InvalidSignatureException",
	"Signature expired: 20260101T000000Z is now earlier than 20260101T000900Z (20260101T001400Z - 5 min.)")

// broken has the request applied, and breaks the body of the answer.
func broken(breaks func(response *http.Response, body []byte)) dynamotest.Fault {
	return func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
		response, err := send(req)
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(response.Body)
		if err == nil {
			breaks(response, body)
		}
		return response, err
	}
}

// cut is a body whose connection breaks at its end.
type cut struct{ io.Reader }

func (c cut) Close() error { return nil }
func (c cut) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

var brokenBodies = map[string]func(response *http.Response, body []byte){
	"broken off": func(r *http.Response, body []byte) {
		r.Body, r.ContentLength = cut{bytes.NewReader(body[:len(body)/2])}, -1
	},
	"broken off at once": func(r *http.Response, _ []byte) { r.Body, r.ContentLength = cut{bytes.NewReader(nil)}, -1 },
	"half, as if it were all": func(r *http.Response, body []byte) {
		half := body[:max(1, len(body)/2)]
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(half)), int64(len(half))
		r.Header.Del("X-Amz-Crc32")
	},
	"wrong checksum": func(r *http.Response, body []byte) {
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.Header.Set("X-Amz-Crc32", "1")
	},
}

// otherOperations are calls that the table of operations does not have. Each may be made again.
func (n *node) otherOperations() map[string]func(ctx context.Context) error {
	n.w.Helper()
	authority, err := processlease.NewAuthority(n.raw, n.w.Table, ttl)
	if err != nil {
		n.w.Fatal(err)
	}
	n.w.Cleanup(authority.Close)
	boots, err := authority.Identity("worker-" + n.w.ID)
	if err != nil {
		n.w.Fatal(err)
	}
	boot := uuid.New()
	return map[string]func(ctx context.Context) error{
		"CheckTable":  n.CheckTable,
		"CreateTable": n.CreateTable,
		"Reap": func(ctx context.Context) error {
			_, err := n.Reap(ctx, dynamolease.ReapConfig{})
			return err
		},
		"Drain":   func(ctx context.Context) error { return n.Drain(ctx, n.w.service, "x") },
		"Undrain": func(ctx context.Context) error { return n.Undrain(ctx, n.w.service, "x") },
		"Drained": func(ctx context.Context) error {
			_, err := n.Drained(ctx, n.w.service)
			return err
		},
		"process lease": func(ctx context.Context) error {
			_, err := boots.TryAcquire(ctx, boot)
			return err
		},
	}
}

// eachOther runs a test for the other operations.
func eachOther(t *testing.T, test func(n *node, call func(ctx context.Context) error)) {
	for _, name := range []string{"CheckTable", "CreateTable", "Reap", "Drain", "Undrain", "Drained", "process lease"} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				n := w.node()
				test(n, n.otherOperations()[name])
			})
		})
	}
}

// LS47: whatever comes without a request id is not DynamoDB's word: the call goes on until DynamoDB answers, says nothing
// of tables or permissions, and the Date moves nothing.
func TestAnswersWithoutAnIDLS47(t *testing.T) {
	answers := map[string]dynamotest.Fault{
		"its own, as it is": nameless(sent),
		"another refusal":   nameless(dynamotest.Cancelled("ConditionalCheckFailed")),
		"throttled":         nameless(dynamotest.Throttle()),
		"no table":          nameless(dynamotest.Reply(400, "ResourceNotFoundException", "Injected")),
		"denied":            nameless(dynamotest.AccessDenied()),
		"signature":         nameless(signatureExpired),
	}
	for _, status := range []int{200, 204, 301, 400, 403, 404, 407, 421, 429, 500, 502, 503, 504} {
		answers[http.StatusText(status)] = dynamotest.Proxy(status)
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			for _, op := range operations {
				t.Run(op.name, func(t *testing.T) {
					testkit.Sample(t)
					inVirtualTime(t, func(w *world) {
						n := w.faultyNode(op.each)
						op.prepare(n)
						n.unmoved(func() error { return op.call(w.Context(), n) }, op.request, answer)
						op.check(n)
					})
				})
			}
			eachOther(t, func(n *node, call func(ctx context.Context) error) {
				n.unmoved(func() error { return call(n.w.Context()) }, "", answer)
			})
		})
	}
}

// unmoved makes a call that succeeds although its first answers are not DynamoDB's, and expects that their Date moves
// nothing.
func (n *node) unmoved(call func() error, request string, answer dynamotest.Fault) {
	n.w.Helper()
	for range 2 {
		n.Path.Next(request, dated(answer, time.Hour))
	}
	if err := call(); err != nil {
		n.w.Error(err)
	}
	earliest, latest, ok := n.Now()
	if now := time.Now(); !ok || now.Before(earliest) || now.After(latest) || latest.Sub(earliest) > 10*time.Second {
		n.w.Errorf("it is %v, and the node takes it to be %v to %v (%v)", now, earliest, latest, ok)
	}
}

// LS47: with a proxy in place of DynamoDB, a write may have been applied, and a read says what came.
func TestNothingButAProxyLS47(t *testing.T) {
	eachOther(t, func(n *node, call func(ctx context.Context) error) {
		n.Path.Every("", dynamotest.Proxy(403))
		err := call(n.w.Context())
		if as := new(dynamolease.SetupError); err == nil || errors.As(err, &as) {
			n.w.Errorf("error %v, want one that says who answered", err)
		}
	})
}

// LS48: two answers of a proxy at the start of a process, an hour off, make it neither take nor keep anything: a lease that
// is held stays held, and what the process holds is free a ttl after it died.
func TestTwoAnswersOfAProxyAtTheStartLS48(t *testing.T) {
	for name, off := range map[string]time.Duration{"ahead": time.Hour, "behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, b := w.node(), w.coldNode()
				held := a.acquire(0, "a")
				for range 2 {
					b.Path.Next("", dated(dynamotest.Proxy(503), off))
				}
				b.refused(0, "b")
				if earliest, latest, ok := b.Now(); !ok || time.Now().Before(earliest) || time.Now().After(latest) {
					w.Errorf("the time is %v to %v, %v", earliest, latest, ok)
				}
				if held.Remaining() == 0 {
					w.Error("the first holder's lease has run out")
				}
				b.acquire(1, "b")
				w.expire()
				a.acquire(1, "a")

				deaf := w.coldNode()
				deaf.Path.Every("", dated(dynamotest.Proxy(503), off))
				if _, err := deaf.Owners(w.Context(), w.group); err == nil {
					w.Error("read through a proxy that answers itself")
				}
				if earliest, latest, ok := deaf.Now(); ok {
					w.Errorf("a proxy has told the time: %v to %v", earliest, latest)
				}
			})
		})
	}
}

// LS47: a process that has heard a proxy alone does not know the time, however often the proxy has told its own.
func TestTimeOfAProxyLS47(t *testing.T) {
	for _, status := range []int{200, 403, 503} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				n := w.coldNode()
				n.Path.Every("", dated(dynamotest.Proxy(status), time.Hour))
				if _, _, err := n.Acquire(w.Context(), w.group, 1, "a", ttl); err == nil {
					w.Error("acquired")
				}
				if earliest, latest, ok := n.Now(); ok {
					w.Errorf("it takes the time to be %v to %v", earliest, latest)
				}
			})
		})
	}
}

// B15: a body that came broken is read again, and a write is found out about, in every operation.
func TestBrokenBodiesB15(t *testing.T) {
	for name, breaks := range brokenBodies {
		t.Run(name, func(t *testing.T) {
			for _, op := range operations {
				t.Run(op.name, func(t *testing.T) {
					testkit.Sample(t)
					inVirtualTime(t, func(w *world) {
						n := w.faultyNode(op.each)
						op.prepare(n)
						n.Path.Next(op.request, broken(breaks))
						if err := op.call(w.Context(), n); err != nil {
							w.Error(err)
						}
						op.check(n)
					})
				})
			}
			eachOther(t, func(n *node, call func(ctx context.Context) error) {
				n.Path.Next("", broken(breaks))
				if err := call(n.w.Context()); err != nil {
					n.w.Error(err)
				}
			})
		})
	}
}

// B03: signed before a freeze and sent after it, or with a token that has been replaced, a request is refused once, and
// signed anew.
func TestSignedTooLateB03(t *testing.T) {
	for name, answer := range map[string]dynamotest.Fault{
		"expired":         signatureExpired,
		"not yet current": dynamotest.Reply(400, "InvalidSignatureException", "Signature not yet current: 20260101T010000Z is still later than 20260101T000500Z"),
		"token":           dynamotest.Reply(400, "ExpiredTokenException", "The security token included in the request is expired"),
	} {
		t.Run(name, func(t *testing.T) {
			for _, op := range operations {
				t.Run(op.name, func(t *testing.T) {
					testkit.Sample(t)
					inVirtualTime(t, func(w *world) {
						n := w.faultyNode(op.each)
						op.prepare(n)
						n.Path.Next(op.request, answer)
						if err := op.call(w.Context(), n); err != nil {
							w.Error(err)
						}
						op.check(n)
					})
				})
			}
			eachOther(t, func(n *node, call func(ctx context.Context) error) {
				n.Path.Next("", answer)
				if err := call(n.w.Context()); err != nil {
					n.w.Error(err)
				}
			})
		})
	}
}
