package dynamolease_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

// frozen has the process stand still for d while it waits for an answer.
func frozen(d time.Duration, answer dynamotest.Fault) dynamotest.Fault {
	return func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
		response, err := answer(req, send)
		time.Sleep(d)
		return response, err
	}
}

// A process that was frozen for any time while its request was throttled fails the call, and no more.
func TestThrottledWhileFrozenLS44(t *testing.T) {
	for _, op := range operations {
		for _, d := range []time.Duration{ttl/2 - ttl/25, ttl / 2, ttl, 10 * ttl} {
			t.Run(op.name+"/"+d.String(), func(t *testing.T) {
				testkit.Sample(t)
				inVirtualTime(t, func(w *world) {
					n := w.faultyNode(op.each)
					op.prepare(n)
					n.Path.Next("", frozen(d, dynamotest.Throttle()))
					_ = op.call(w.Context(), n)
					n.Close()
				})
			})
		}
	}
}

// concerning returns a fault for the requests about rows of one kind.
func concerning(text string, fault dynamotest.Fault) dynamotest.Fault {
	return func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		all := new(strings.Builder)
		if _, err := io.Copy(all, body); err != nil {
			return nil, err
		}
		if strings.Contains(all.String(), text) {
			return fault(req, send)
		}
		return send(req)
	}
}

// A call with a short ttl ends within its budget, also where one with a long ttl is closing the same dead session.
func TestClosingWithinTheBudgetLS44(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, b := w.node(), w.node()
		a.open("a", ttl)
		a.take(1)
		a.take(2)
		w.expire()
		b.Path.Every("UpdateItem", concerning(`"M#`, dynamotest.Hang()))
		ctx, cancel := context.WithCancel(w.Context())
		patient := make(chan error)
		go func() {
			_, _, err := b.Acquire(ctx, w.group, 1, "b", time.Hour)
			patient <- err
		}()
		time.Sleep(time.Second)
		began := time.Now()
		short, stop := context.WithTimeout(w.Context(), time.Minute)
		defer stop()
		_, acquired, err := b.Acquire(short, w.group, 2, "c", ttl)
		if took := time.Since(began); err == nil || took > ttl/2+50*time.Millisecond {
			w.Errorf("%v, %v after %v", acquired, err, took)
		}
		cancel()
		<-patient
		b.Close()
	})
}

// A session outlives a Leave one request of which hangs.
func TestLeaveHoldsUpNoHeartbeat(t *testing.T) {
	for _, ttl := range []time.Duration{time.Second, 2 * time.Second, 3 * time.Second, ttl} {
		t.Run(ttl.String(), func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				n := w.node()
				n.open("a", ttl)
				time.Sleep(ttl/3 - time.Millisecond)
				n.Path.Next("UpdateItem", dynamotest.Hang())
				left := make(chan error)
				go func() { left <- n.session.Leave(w.Context()) }()
				time.Sleep(time.Millisecond)
				if _, err := n.session.Heartbeat(w.Context()); err != nil {
					w.Errorf("heartbeat: %v", err)
				}
				if err := <-left; err != nil {
					w.Errorf("leave: %v", err)
				}
			})
		})
	}
}

// A holder is never still there when another has taken its lease by watching, whatever its ttl and the drift.
func TestWatchIsNeverShortLS45(t *testing.T) {
	for _, drift := range []int{1, 200, 20_000, 100_000} {
		for _, ttl := range []time.Duration{time.Second + 999*time.Microsecond, 2*time.Second - 1, ttl} {
			t.Run("", func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					a, b := w.node(), w.node(func(o *dynamolease.Options) {
						o.Clock.Margin, o.Clock.DriftPPM = time.Minute, drift
					})
					a.open("a", ttl)
					a.take(1)
					began := time.Now()
					b.refused(1, "b")
					d := float64(drift) / 1e6
					// The holder's clock shows too little by d, and the watcher's too much by d.
					needed := time.Duration(float64(ttl) * (1 + d) / (1 - d))
					time.Sleep(needed - time.Since(began) - time.Microsecond)
					if owners := b.owners(); len(owners) != 1 {
						w.Errorf("ttl %v, drift %d: taken %v after the heartbeat, the holder may count on %v", ttl, drift, time.Since(began), needed)
					}
				})
			})
		}
	}
}

// An acquisition that may have been applied is not told as one that was not.
func TestNotAcquiredIsCertain(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, b := w.node(), w.node()
		a.acquire(1, "a")
		w.expire()
		late := newMailbox()
		b.Path.Next("UpdateItem", dynamotest.All(dynamotest.Around(nil, func() {
			b.Step(time.Minute) // it must learn the time anew, and from machines that are slow
			b.Path.Every("", dated(sent, -10*time.Second))
		}), late.post()))
		_, acquired, err := b.Acquire(w.Context(), w.group, 1, "b", ttl)
		w.wantUnknown("acquire", err)
		if acquired {
			w.Error("acquired")
		}
		b.Close() // what is done in the background
		late.deliver()
		if owner := textValue(b.row(1)["owner"]); owner != "a" {
			w.Errorf("the row is of %q", owner)
		}
	})
}

// A release frees what an acquisition that was never answered acquires later, whatever was called in between.
func TestReleaseAfterOthersLS52(t *testing.T) {
	for name, between := range map[string]func(n *node){
		"nothing":           func(*node) {},
		"Renew":             func(n *node) { n.renew("a", 1) },
		"Renew of others":   func(n *node) { n.renew("b", 1) },
		"Forget":            func(n *node) { _ = n.forget(1) },
		"Release of others": func(n *node) { n.release(1, "b") },
		"Acquire of others": func(n *node) { n.acquire(1, "b"); n.release(1, "b") },
		"Lease":             func(n *node) { _, _ = n.Store.Lease(n.w.Context(), n.w.group, 1) },
	} {
		for _, present := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					n := w.node()
					if present {
						n.acquire(1, "z")
						n.release(1, "z")
					}
					late := newMailbox()
					n.Path.Next("UpdateItem", late.post())
					stop := n.Path.Every("UpdateItem", func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
						return send(req)
					})
					stop()
					ctx, cancel := context.WithCancel(w.Context())
					cancelOnce := dynamotest.Around(nil, func() { cancel() })
					n.Path.Every("UpdateItem", cancelOnce)
					n.Store.Close() // nothing undoes it in the background
					_, _, err := n.Acquire(ctx, w.group, 1, "a", ttl)
					w.wantUnknown("acquire", err)
					between(n)
					n.release(1, "a")
					late.deliver()
					if owner := n.row(1)["owner"]; owner != nil {
						w.Errorf("released, and the row is %v", n.row(1))
					}
				})
			})
		}
	}
}

// What is not known of work is kept, whatever other owners of the process do.
func TestWorkInDoubtIsKept(t *testing.T) {
	for name, other := range map[string]func(n *node){
		"Renew":   func(n *node) { n.renew("b", 1) },
		"Release": func(n *node) { n.release(1, "b") },
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				n := w.node()
				prepareFenced(n)
				n.Path.Next("TransactWriteItems", dynamotest.LoseResponse())
				ctx := w.giveUp()
				if err := n.transact(ctx); !errors.Is(err, dynamolease.ErrUnknownOutcome) {
					w.Fatal(err)
				}
				n.lease = dynamolease.Lease{}
				collect()
				other(n)
				collect()
				n.lease = n.renew("a", 1)[0]
				if err := n.transact(w.Context()); !errors.Is(err, dynamolease.ErrEarlierApplied) {
					w.Errorf("%v", err)
				}
			})
		})
	}
}

// Work ends within its budget, also where a renewal's request hangs.
func TestWorkBesideAHangingRenewalLS44(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		n := w.node(func(o *dynamolease.Options) { o.RequestTimeout = time.Minute })
		lease, _, err := n.Acquire(w.Context(), w.group, 1, "a", time.Hour)
		if err != nil {
			w.Fatal(err)
		}
		n.Path.Every("TransactWriteItems", dynamotest.Hang())
		ctx, cancel := context.WithCancel(w.Context())
		renewed := make(chan struct{})
		go func() {
			_, _ = n.Renew(ctx, w.group, []int{1}, "a", time.Hour)
			close(renewed)
		}()
		time.Sleep(time.Second)
		began := time.Now()
		err = n.Checkpoint(w.Context(), lease, []byte("5"))
		if took := time.Since(began); took > 10*time.Second+50*time.Millisecond {
			w.Errorf("%v after %v", err, took)
		}
		cancel()
		<-renewed
	})
}

// collect has everything collected that nothing refers to.
func collect() {
	for range 3 {
		runtime.GC()
	}
}

func textValue(v types.AttributeValue) string {
	if s, ok := v.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

// What a session gives up stays given up, whatever comes late of what it tried before.
func TestSessionGivesUpWhatComesLateLS52(t *testing.T) {
	for name, giveUp := range map[string]func(n *node) error{
		"ReleaseAll": func(n *node) error { return n.session.ReleaseAll(n.w.Context()) },
		"Release": func(n *node) error {
			_, err := n.session.Release(n.w.Context(), n.w.group, 1)
			return err
		},
		"ReleaseAll twice": func(n *node) error {
			return errors.Join(n.session.ReleaseAll(n.w.Context()), n.session.ReleaseAll(n.w.Context()))
		},
		"Close": func(n *node) error { return n.session.Close(n.w.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				n := w.node()
				n.open("a", time.Hour)
				n.take(2)
				late := newMailbox()
				ctx, cancel := context.WithCancel(w.Context())
				n.Path.Next("UpdateItem", dynamotest.All(dynamotest.Around(nil, cancel), late.post()))
				n.Store.Close() // nothing undoes it in the background
				_, _, err := n.session.Acquire(ctx, w.group, 1)
				w.wantUnknown("acquire", err)
				if err := giveUp(n); err != nil {
					w.Error(err)
				}
				late.deliver()
				w.node().acquire(1, "b")
			})
		})
	}
}

// Opening a session takes one budget, whichever of its requests is held up.
func TestOpenSessionWithinItsBudgetLS44(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		n := w.node()
		n.Path.Every("UpdateItem", dynamotest.Hang())
		began := time.Now()
		n.Path.Every("Query", func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
			if time.Since(began) < ttl/2-ttl/10 {
				return dynamotest.ServerError(503)(req, send)
			}
			return send(req)
		})
		_, err := n.OpenSession(w.Context(), dynamolease.Node{Service: w.service, Name: "a", Address: "a:1"}, ttl)
		if took := time.Since(began); err == nil || took > ttl/2+50*time.Millisecond {
			w.Errorf("%v after %v", err, took)
		}
		n.Close()
	})
}
