package dynamolease_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// Many at once under one lease, with faults, are written once each and all succeed.
func TestTransactConcurrently(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a := w.node()
		prepareFenced(a)
		for i := range 12 {
			a.Path.Next("TransactWriteItems", []dynamotest.Fault{
				dynamotest.LoseResponse(), dynamotest.Twice(), dynamotest.Conflict(), after(dynamotest.ServerError(500)),
				dynamotest.Cancelled("TransactionConflict", "None"), dynamotest.Throttle(),
			}[i%6])
		}
		var running sync.WaitGroup
		for range 12 {
			running.Go(func() {
				if err := a.transact(w.Context()); err != nil {
					w.Error(err)
				}
			})
		}
		running.Wait()
		w.wantCount("12")
		held := dynamotest.NewDoor()
		a.Path.Next("TransactWriteItems", held.Hold)
		go func() { _ = a.transact(w.Context()) }()
		<-held.Arrived()
		start := time.Now()
		if err := a.transact(w.giveUp()); !errors.Is(err, context.Canceled) || time.Since(start) > 2*time.Millisecond {
			w.Errorf("who waits for a turn: %v after %v", err, time.Since(start))
		}
		held.Release()
		synctest.Wait()
	})
}

// Work that moves the checkpoint along with its results is done exactly once: the next holder finds both or neither,
// and what the call said is true. Some answers come after the context has ended, some requests after the takeover.
func TestTransactExactlyOnce(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		found := 0
		for round := range 2 * len(faults) {
			n, late := w.node(), newMailbox()
			n.open("n", 2*ttl)
			n.lease = n.take(1)
			ctx, fault := w.Context(), faults[round/2].fault
			if round%2 == 0 {
				ctx, fault = w.giveUp(), dynamotest.All(fault, late.post())
			}
			n.Path.Next("TransactWriteItems", fault)
			want := fmt.Sprint(found + 1)
			err := n.Transact(ctx, n.lease, []byte(want), w.increment("counter"))
			if n.session.Close(w.Context()) != nil {
				w.Fatal("not closed")
			}
			next := w.node()
			next.open("next", 2*ttl)
			lease := next.take(1)
			late.deliver()
			w.wantCount(string(lease.Checkpoint))
			done := string(lease.Checkpoint) == want
			if done != (err == nil) && !errors.Is(err, dynamolease.ErrUnknownOutcome) {
				w.Errorf("round %d, %s: %v, and done is %v", round, faults[round/2].name, err, done)
			}
			if done {
				found++
			}
			if next.session.Close(w.Context()) != nil {
				w.Fatal("not closed")
			}
		}
		if found < len(faults)/2 {
			w.Errorf("only %d of %d were done", found, 2*len(faults))
		}
	})
}

// An error that nobody has heard of ends neither the process nor the lease, and is no success.
func TestUnheardOfErrorIsNoSuccess(t *testing.T) {
	t.Run("C54", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			for status, unknown := range map[int]bool{418: false, 599: true} {
				a := w.node()
				prepareFenced(a)
				before := w.count("counter")
				stop := a.Path.Every("TransactWriteItems", dynamotest.Reply(status, "TeapotException", "no such thing"))
				err := a.transact(w.giveUp())
				stop()
				if err == nil || errors.Is(err, dynamolease.ErrUnknownOutcome) != unknown || w.count("counter") != before {
					w.Errorf("%d: %v, unknown: want %v", status, err, unknown)
				}
				if a.lease.Remaining() < ttl-time.Second || len(a.renew("a", 1)) != 1 {
					w.Errorf("%v left", a.lease.Remaining())
				}
				if err := a.transact(w.Context()); err != nil {
					w.Error(err)
				}
			}
			w.wantCount("2")
		})
	})
}
