package dynamolease_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// onceAndBusy has the first write done with its answer lost, or delivered twice, and something else happen then; the store refuses
// it the second time, and turns away all that comes later.
func onceAndBusy(fault dynamotest.Fault, then func()) dynamotest.Fault {
	sent := 0
	return func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
		counted := func(req *http.Request) (*http.Response, error) {
			switch sent++; sent {
			case 1:
				return dynamotest.Around(nil, then)(req, send)
			case 2:
				return send(req)
			}
			return dynamotest.Throttle()(req, send)
		}
		if sent == 0 {
			return fault(req, counted)
		}
		return counted(req)
	}
}

// What a session has written may be hidden by what operators have written over it.
func TestSessionWrittenOverIsUnknown(t *testing.T) {
	for how, fault := range map[string]dynamotest.Fault{"answer lost": dynamotest.LoseResponse(), "delivered twice": dynamotest.Twice()} {
		t.Run("heartbeat/"+how, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, operator := w.node(), w.node()
				a.open("a", ttl)
				lease := a.take(1)
				time.Sleep(ttl / 3)
				a.Path.Every("UpdateItem", onceAndBusy(fault, func() {
					if _, _, err := operator.Revoke(w.Context(), w.group, 1, lease.Epoch); err != nil {
						w.Error(err)
					}
				}))
				if _, err := a.session.Heartbeat(w.Context()); !errors.Is(err, dynamolease.ErrUnknownOutcome) {
					w.Errorf("%v, want that the outcome is unknown", err)
				}
			})
		})
		t.Run("opening/"+how, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, operator := w.node(), w.node()
				a.Path.Every("UpdateItem", onceAndBusy(fault, func() { operator.leave("a") }))
				if _, err := a.OpenSession(w.Context(), dynamolease.Node{Service: w.service, Name: "a", Address: "a:1", Groups: []string{w.group}}, ttl); !errors.Is(err, dynamolease.ErrUnknownOutcome) {
					w.Errorf("%v, want that the outcome is unknown", err)
				}
			})
		})
	}
}

// LS41: a release that was done without an answer, or was delivered twice, and is tried again, frees nothing that its owner has
// acquired since.
func TestReleaseLS41AcquiredAgain(t *testing.T) {
	for how, fault := range map[string]dynamotest.Fault{"answer lost": dynamotest.LoseResponse(), "delivered twice": dynamotest.Twice()} {
		t.Run(how, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, again := w.node(), w.node()
				a.acquire(1, "a")
				var lease dynamolease.Lease
				acquired := dynamotest.Around(nil, func() {
					if lease.Epoch == 0 {
						lease = again.acquire(1, "a")
					}
				})
				a.Path.Next("UpdateItem", dynamotest.All(fault, acquired))
				if released, err := a.Release(w.Context(), w.group, 1, "a"); err != nil || !released {
					w.Errorf("released %v, %v", released, err)
				}
				if owners := again.owners(); len(owners) != 1 || owners[0].Epoch != lease.Epoch {
					w.Errorf("owners %+v, want epoch %d", owners, lease.Epoch)
				}
			})
		})
	}
}

// What the store only turned away, or does not allow, was not done for certain.
func TestTurnedAwayIsCertain(t *testing.T) {
	for name, do := range map[string]func(n *node) error{
		"acquire": func(n *node) error { _, _, err := n.Acquire(n.w.Context(), n.w.group, 2, "b", ttl); return err },
		"acquire all": func(n *node) error {
			_, _, err := n.AcquireAll(n.w.Context(), n.w.group, []int{2, 3}, "b", ttl)
			return err
		},
		"extend":  func(n *node) error { _, _, err := n.Acquire(n.w.Context(), n.w.group, 1, "a", ttl); return err },
		"renew":   func(n *node) error { _, err := n.Renew(n.w.Context(), n.w.group, []int{1}, "a", ttl); return err },
		"release": func(n *node) error { _, err := n.Release(n.w.Context(), n.w.group, 1, "a"); return err },
		"revoke":  func(n *node) error { _, _, err := n.Revoke(n.w.Context(), n.w.group, 1, n.lease.Epoch); return err },
		"drain":   func(n *node) error { return n.Drain(n.w.Context(), n.w.service, "a") },
		"undrain": func(n *node) error { return n.Undrain(n.w.Context(), n.w.service, "a") },
		"heartbeat": func(n *node) error {
			_, err := n.Store.Heartbeat(n.w.Context(), dynamolease.Node{Service: n.w.service, Name: "a", Address: "a:1"}, ttl)
			return err
		},
		"leave": func(n *node) error { return n.Leave(n.w.Context(), n.w.service, "a") },
		"open": func(n *node) error {
			_, err := n.OpenSession(n.w.Context(), dynamolease.Node{Service: n.w.service, Name: "b", Address: "b:1"}, ttl)
			return err
		},
		"in a session, heartbeat":   func(n *node) error { _, err := n.session.Heartbeat(n.w.Context()); return err },
		"in a session, acquire":     func(n *node) error { _, _, err := n.session.Acquire(n.w.Context(), n.w.group, 2); return err },
		"in a session, release":     func(n *node) error { _, err := n.session.Release(n.w.Context(), n.w.group, 4); return err },
		"in a session, release all": func(n *node) error { return n.session.ReleaseAll(n.w.Context()) },
		"in a session, leave":       func(n *node) error { return n.session.Leave(n.w.Context()) },
		"in a session, close":       func(n *node) error { return n.session.Close(n.w.Context()) },
		"checkpoint":                func(n *node) error { return n.Checkpoint(n.w.Context(), n.lease, []byte("x")) },
	} {
		for how, fault := range map[string]dynamotest.Fault{
			"busy": dynamotest.Throttle(), "denied": dynamotest.AccessDenied(), "in conflict": dynamotest.Conflict(), "not sent": dynamotest.Reply(400, "ValidationException", "no"),
		} {
			t.Run(name+"/"+how, func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					n := w.node()
					n.heartbeat("a", "a:1")
					n.lease = n.acquire(1, "a")
					n.open("s", ttl)
					n.take(4)
					n.Path.Every("UpdateItem", fault)
					n.Path.Every("TransactWriteItems", fault)
					if err := do(n); err == nil || errors.Is(err, dynamolease.ErrUnknownOutcome) {
						w.Errorf("%v, want an error that leaves nothing open", err)
					}
				})
			})
		}
	}
}
