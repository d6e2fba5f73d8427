package dynamolease_test

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

var attemptsMade = regexp.MustCompile(`after (\d+) attempts`)

// A call that does not get through ends within its budget, waits between its attempts, gives none less than a quarter of its
// usual timeout, and counts them in its error.
func TestCallsEndWithinTheirBudgetsLS44(t *testing.T) {
	for name, fault := range map[string]dynamotest.Fault{
		"throttled": dynamotest.Throttle(), "conflict": dynamotest.Conflict(), "503": dynamotest.ServerError(503),
		"hang": dynamotest.Hang(), "lost": dynamotest.LoseRequest(),
	} {
		for _, op := range operations {
			t.Run(op.name+"/"+name, func(t *testing.T) {
				testkit.Sample(t)
				inVirtualTime(t, func(w *world) {
					n := w.faultyNode(op.each)
					op.prepare(n)
					usual, budget := requestTimeout(op.untimed), ttl/2
					if op.untimed {
						budget = 10 * time.Second
					}
					n.Path.Reset()
					n.Path.Every("", dynamotest.All(func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
						deadline, _ := req.Context().Deadline()
						if left := time.Until(deadline); left < usual/4 {
							w.Errorf("an attempt has %v of %v", left, usual)
						}
						return send(req)
					}, fault))
					began := time.Now()
					err := op.call(w.Context(), n)
					if took := time.Since(began); err == nil || took > budget+50*time.Millisecond {
						w.Errorf("%v after %v", err, took)
					}
					said := attemptsMade.FindStringSubmatch(err.Error())
					if said == nil {
						w.Fatalf("no number of attempts in %q", err)
					}
					if count, _ := strconv.Atoi(said[1]); count < 1 || count > n.Path.Count("") {
						w.Errorf("%d attempts, so it is said, of %d", count, n.Path.Count(""))
					}
					n.Close()
				})
			})
		}
	}
}

// A patience that is negative is refused by name, before any request.
func TestNegativePatienceLS44(t *testing.T) {
	w := newWorld(t)
	for _, d := range []time.Duration{-time.Second, -1} {
		_, err := dynamolease.New(w.Direct(), w.Table, func(o *dynamolease.Options) { o.RequestTimeout = d })
		var argument *dynamolease.ArgumentError
		if !errors.As(err, &argument) || argument.Argument != "Options.RequestTimeout" {
			t.Errorf("%v: %v", d, err)
		}
	}
}

// While the store throttles, heartbeats and renewals go first, and everything else waits: what was throttled in one call slows down
// all the others.
func TestThrottledCallsWaitLS57(t *testing.T) {
	first := map[string]bool{
		"Renew": true, "Renew each item": true, "Renew, reading": true, "Heartbeat": true, "Heartbeat, reading": true,
		"Session.Heartbeat": true, "Session.Leave": true, "OpenSession": true,
	}
	for _, op := range operations {
		t.Run(op.name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				n := w.faultyNode(op.each)
				op.prepare(n)
				stop := n.Path.Every("", dynamotest.Throttle())
				ctx, cancel := context.WithTimeout(w.Context(), 650*time.Millisecond)
				_, _ = n.Owners(ctx, w.group)
				cancel()
				stop()
				var waited time.Duration = -1
				began := time.Now()
				n.Path.Every("", dynamotest.Around(func() {
					if waited < 0 {
						waited = time.Since(began)
					}
				}, nil))
				if err := op.call(w.Context(), n); err != nil {
					w.Fatal(err)
				}
				if (waited == 0) != first[op.name] {
					w.Errorf("the first request after %v", waited)
				}
			})
		})
	}
}

// An acquisition whose answer comes when nothing is left of the lease is an error, and the row is freed.
func TestNothingLeftLS58(t *testing.T) {
	for name, acquire := range map[string]func(n *node) (left time.Duration, acquired bool, err error){
		"Acquire": func(n *node) (time.Duration, bool, error) {
			lease, acquired, err := n.Acquire(n.w.Context(), n.w.group, 1, "a", ttl)
			return lease.Remaining(), acquired, err
		},
		"AcquireAll": func(n *node) (time.Duration, bool, error) {
			leases, acquired, err := n.AcquireAll(n.w.Context(), n.w.group, []int{1, 2}, "a", ttl)
			var left time.Duration
			if acquired {
				left = min(leases[0].Remaining(), leases[1].Remaining())
			}
			return left, acquired, err
		},
		"Session.Acquire": func(n *node) (time.Duration, bool, error) {
			lease, acquired, err := n.session.Acquire(n.w.Context(), n.w.group, 1)
			return lease.Remaining(), acquired, err
		},
	} {
		for _, pause := range []time.Duration{0, ttl / 2, ttl - time.Second, ttl, 3 * ttl} {
			t.Run(name+"/"+pause.String(), func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					n := w.patientNode(func(*dynamolease.Options) {})
					n.open("a", ttl)
					n.owners()
					suspend := dynamotest.Around(nil, func() { n.Suspend(pause) })
					n.Path.Next("UpdateItem", suspend)
					n.Path.Next("TransactWriteItems", suspend)
					left, acquired, err := acquire(n)
					if acquired != (left > 0) || acquired != (err == nil) || acquired != (pause < ttl) {
						w.Errorf("acquired %v with %v left, %v", acquired, left, err)
					}
					n.Close()
					if owner := textOf(n.row(1)["owner"]); !acquired && name != "Session.Acquire" && owner != "" {
						w.Errorf("%q stays the owner", owner)
					}
				})
			})
		}
	}
}
