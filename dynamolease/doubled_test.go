package dynamolease_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// doubled delivers a request twice, and has something else happen in between. The caller gets the second answer, which
// tells of a row that somebody else has written since.
func doubled(between func()) dynamotest.Fault {
	return func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
		if _, err := send(req); err != nil {
			return nil, err
		}
		between()
		return send(req)
	}
}

// What was released is said to be, also when the request came twice and was refused the second time, since another node has
// the partition by then.
func TestReleaseDoubled(t *testing.T) {
	for name, prepare := range map[string]func(n *node) (release func() (bool, error)){
		"LS19/with an expiry of its own": func(n *node) func() (bool, error) {
			n.acquire(1, "a")
			return func() (bool, error) { return n.Release(n.w.Context(), n.w.group, 1, "a") }
		},
		"LS19/in a session": func(n *node) func() (bool, error) {
			n.open("a", ttl)
			n.take(1)
			return func() (bool, error) { return n.session.Release(n.w.Context(), n.w.group, 1) }
		},
	} {
		for next, acquire := range map[string]func(b *node){
			"acquired by another":               func(b *node) { b.acquire(1, "b") },
			"acquired in a session":             func(b *node) { b.open("b", ttl); b.take(1) },
			"acquired and released by another":  func(b *node) { b.acquire(1, "b"); b.release(1, "b") },
			"acquired, renewed, handed on once": func(b *node) { b.acquire(1, "b"); b.release(1, "b"); b.acquire(1, "c") },
			"deleted":                           func(b *node) { b.w.deleteRow(1) },
		} {
			t.Run(name+"/"+next, func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					a, b := w.node(), w.node()
					release := prepare(a)
					a.Path.Next("UpdateItem", doubled(func() { acquire(b) }))
					if released, err := release(); err != nil || !released {
						w.Errorf("released %v, %v", released, err)
					}
				})
			})
		}
	}
}

// Of two calls that release one lease, one has.
func TestReleaseByTwoCalls(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a := w.node()
		a.acquire(1, "a")
		other := w.node()
		a.Path.Next("UpdateItem", dynamotest.Around(func() {
			if !other.release(1, "a") {
				w.Error("the first call has not")
			}
		}, nil))
		if a.release(1, "a") {
			w.Error("both have")
		}
	})
}

// What expired before the request came first was not released, whoever acquired it then.
func TestReleaseDoubledTooLate(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, b := w.node(), w.node()
		a.acquire(1, "a")
		time.Sleep(ttl + time.Second) // as far as it knows it may be live yet
		a.Path.Next("UpdateItem", dynamotest.All(dynamotest.Around(func() { time.Sleep(3 * time.Second / 2); b.acquire(1, "b") }, nil), dynamotest.Twice()))
		if released, err := a.Release(w.Context(), w.group, 1, "a"); err != nil || released {
			w.Errorf("released %v, %v", released, err)
		}
		if owners := b.owners(); len(owners) != 1 || owners[0].Owner != "b" {
			w.Errorf("owners %+v", owners)
		}
	})
}

// What somebody else undoes at once, again and again, may have been done all the same: the row does not show it.
func TestUndoneIsUnknown(t *testing.T) {
	do := map[string]func(ctx context.Context, n *node) error{
		"drain":   func(ctx context.Context, n *node) error { return n.Drain(ctx, n.w.service, "a") },
		"undrain": func(ctx context.Context, n *node) error { return n.Undrain(ctx, n.w.service, "a") },
		"leave":   func(ctx context.Context, n *node) error { return n.Leave(ctx, n.w.service, "a") },
		"heartbeat": func(ctx context.Context, n *node) error {
			_, err := n.Heartbeat(ctx, dynamolease.Node{Service: n.w.service, Name: "a", Address: "a:1"}, ttl)
			return err
		},
	}
	for name, undo := range map[string]string{"drain": "undrain", "undrain": "drain", "leave": "heartbeat", "heartbeat": "heartbeat"} {
		for how, fault := range map[string]dynamotest.Fault{"answer lost": dynamotest.LoseResponse(), "delivered twice": dynamotest.Twice()} {
			t.Run(name+"/"+how, func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					a, other := w.node(), w.node()
					a.heartbeat("a", "a:1")
					undone := func() {
						if err := do[undo](w.Context(), other); err != nil {
							w.Errorf("%s: %v", undo, err)
						}
					}
					first, others := dynamotest.All(fault, dynamotest.Around(nil, undone)), dynamotest.Around(undone, nil)
					a.Path.Every("UpdateItem", func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
						next := first
						first = others
						return next(req, send)
					})
					if err := do[name](w.Context(), a); !errors.Is(err, dynamolease.ErrUnknownOutcome) {
						w.Errorf("%v, want that the outcome is unknown", err)
					}
				})
			})
		}
	}
}

// While a call goes on to acquire what it has acquired already, without knowing, another call of the same owner renews it:
// the lease is there, and nothing tells the first call whose it is.
func TestAcquiredAndRenewedIsUnknown(t *testing.T) {
	for name, acquire := range map[string]func(ctx context.Context, n *node) error{
		"Acquire": func(ctx context.Context, n *node) error {
			_, _, err := n.Acquire(ctx, n.w.group, 1, "a", ttl)
			return err
		},
		"AcquireAll": func(ctx context.Context, n *node) error {
			_, _, err := n.AcquireAll(ctx, n.w.group, []int{1, 2}, "a", ttl)
			return err
		},
	} {
		for how, fault := range map[string]dynamotest.Fault{"answer lost": dynamotest.LoseResponse(), "delivered twice": dynamotest.Twice()} {
			t.Run(name+"/"+how, func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					a := w.node()
					renewed := dynamotest.Around(nil, func() { w.node().renew("a", 1, 2) })
					first, others := dynamotest.All(fault, renewed), dynamotest.All(renewed, dynamotest.Conflict())
					a.Path.Every("", func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
						if op := req.Header.Get("X-Amz-Target"); !strings.HasSuffix(op, "UpdateItem") && !strings.HasSuffix(op, "TransactWriteItems") {
							return send(req)
						}
						next := first
						first = others
						return next(req, send)
					})
					// (A transaction that comes twice has a token, and is answered as the first time.)
					if err := acquire(w.Context(), a); !errors.Is(err, dynamolease.ErrUnknownOutcome) && (err != nil || name == "Acquire") {
						w.Errorf("%v, want that the outcome is unknown", err)
					}
					if owners := w.node().owners(); len(owners) == 0 || owners[0].Owner != "a" {
						w.Errorf("owners %+v", owners)
					}
				})
			})
		}
	}
}
