package dynamolease_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// However many leases there are, a call that cannot get through ends while its caller can still do something.
func TestRenewOfManyGivesUpInTime(t *testing.T) {
	for name, how := range modes {
		t.Run("LS34/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a := w.node(how)
				all := a.acquireMany("a", 150)
				a.Path.Every("", dynamotest.Hang())
				start := time.Now()
				_, err := a.Renew(w.Context(), w.group, all, "a", ttl)
				w.wantUnknown("renew", err)
				if took := time.Since(start); took > ttl/2+ttl/6 {
					w.Errorf("given up after %v, want %v at most", took, ttl/2+ttl/6)
				}
			})
		})
	}
}

// What is read first counts towards the same half of the ttl.
func TestRenewReadsAndGivesUpInTime(t *testing.T) {
	for name, how := range modes {
		t.Run("LS34/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				w.node().acquire(1, "a")
				a := w.node(how)
				a.Path.Next("Query", dynamotest.Hang())
				a.Path.Next("Query", dynamotest.Hang())
				for _, op := range []string{"UpdateItem", "TransactWriteItems"} {
					a.Path.Every(op, dynamotest.Hang())
				}
				start := time.Now()
				_, err := a.Renew(w.Context(), w.group, []int{1}, "a", ttl)
				w.wantUnknown("renew", err)
				if took := time.Since(start); took > ttl/2+ttl/6 {
					w.Errorf("given up after %v, want %v at most", took, ttl/2+ttl/6)
				}
			})
		})
	}
}

// Whatever the ttl, no attempt takes a large part of it, and a call ends when its half of the ttl is used up.
func TestAttemptsAreShortLS34(t *testing.T) {
	for _, op := range operations {
		if op.untimed {
			continue
		}
		t.Run(op.name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				n := w.faultyNode(op.each)
				op.prepare(n)
				var sent []time.Time
				n.Path.Every("", dynamotest.All(dynamotest.Around(func() { sent = append(sent, time.Now()) }, nil), dynamotest.Hang()))
				start := time.Now()
				if err := op.call(w.Context(), n); err == nil {
					w.Fatal("done, although nothing was answered")
				}
				sent = append(sent, time.Now())
				if took := time.Since(start); took > ttl/2+50*time.Millisecond {
					w.Errorf("given up after %v, want %v", took, ttl/2)
				}
				n.Close()
				for i := range sent[1:] {
					if took := sent[i+1].Sub(sent[i]); took > ttl/6+200*time.Millisecond {
						w.Errorf("an attempt took %v of a ttl of %v", took, ttl)
					}
				}
			})
		})
	}
}

// LS18: what a holder may believe counts from before the request.
func TestHolderCountsFromTheRequest(t *testing.T) {
	acquire := func(n *node) dynamolease.Lease { return n.acquire(1, "a") }
	renew := func(n *node) dynamolease.Lease { return n.renew("a", 1)[0] }
	for name, test := range map[string]struct {
		call     func(n *node) dynamolease.Lease
		lost     bool // the first answer is lost, and the second shows that the first was applied
		suspend  time.Duration
		deadline time.Duration
	}{
		"acquire, late answer":      {call: acquire, deadline: ttl},
		"renew, late answer":        {call: renew, deadline: ttl},
		"renew, suspended":          {call: renew, suspend: ttl, deadline: 0},
		"acquire, suspended before": {call: acquire, suspend: ttl / 2, deadline: ttl},
	} {
		t.Run("LS18/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a := w.node()
				a.acquire(1, "a")
				time.Sleep(time.Second)
				var sent time.Time
				a.Path.Next("", func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
					sent = time.Now()
					response, err := send(req)
					if test.suspend > 0 {
						a.Suspend(test.suspend)
					} else {
						time.Sleep(ttl / 7)
					}
					return response, err
				})
				lease := test.call(a)
				if want := max(0, test.deadline-time.Since(sent)); lease.Remaining() != want {
					w.Errorf("%v left, want %v", lease.Remaining(), want)
				}
			})
		})
	}
}
