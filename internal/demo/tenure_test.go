package demo

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// inBubble runs f in virtual time, with a store on a table of its own.
func inBubble(t *testing.T, f func(t *testing.T, store *dynamolease.Store)) {
	server := startServer(t)
	table := server.Table(t)
	synctest.Test(t, func(t *testing.T) {
		transport := server.VirtualTransport()
		defer transport.Close()
		started := time.Now()
		f(t, newStore(t, transport.Client(), table, func(o *dynamolease.Options) {
			o.Elapsed = func() (atLeast, atMost time.Duration) { d := time.Since(started); return d, d }
		}))
	})
}

func TestTenureEndsWithItsLease(t *testing.T) {
	inBubble(t, func(t *testing.T, store *dynamolease.Store) {
		started := time.Now()
		tenure := newTenure(t.Context(), newClock(), acquire(t, store, 5, "w1"))
		if at, ok := tenure.holds(); !ok || at != tenure.clock.now() {
			t.Errorf("holds = %v, %v at first", at, ok)
		}
		<-tenure.ctx.Done()
		if got := time.Since(started); got != testTTL {
			t.Errorf("the context ended after %v, want %v", got, testTTL)
		}
		if cause := context.Cause(tenure.ctx); !errors.Is(cause, errExpired) {
			t.Errorf("cause = %v, want %v", cause, errExpired)
		}
		if _, ok := tenure.holds(); ok || tenure.begin() {
			t.Error("it can still be worked on after its end")
		}
	})
}

func TestTenureIsExtended(t *testing.T) {
	inBubble(t, func(t *testing.T, store *dynamolease.Store) {
		started := time.Now()
		tenure := newTenure(t.Context(), newClock(), acquire(t, store, 5, "w1"))
		time.Sleep(2 * time.Second)
		leases, err := store.Renew(t.Context(), group, []int{5}, "w1", testTTL)
		if err != nil || len(leases) != 1 {
			t.Fatalf("Renew = %v, %v", leases, err)
		}
		tenure.extend(leases[0])
		<-tenure.ctx.Done()
		if got, want := time.Since(started), 2*time.Second+testTTL; got != want {
			t.Errorf("the context ended after %v, want %v", got, want)
		}
		// The row is live for others still, and so can be renewed; what was stopped stays stopped.
		leases, err = store.Renew(t.Context(), group, []int{5}, "w1", testTTL)
		if err != nil || len(leases) != 1 {
			t.Fatalf("Renew = %v, %v", leases, err)
		}
		tenure.extend(leases[0])
		if _, ok := tenure.holds(); ok {
			t.Error("a tenure that was over came back")
		}
	})
}

func TestTenureStages(t *testing.T) {
	inBubble(t, func(t *testing.T, store *dynamolease.Store) {
		lease := acquire(t, store, 5, "w1")
		begun := newTenure(t.Context(), newClock(), lease)
		if !begun.begin() || begun.begin() {
			t.Error("begin must succeed once")
		}
		if begun.giveUp() {
			t.Error("a tenure was given up while it was worked on")
		}
		begun.finish()
		if !begun.isFinished() || !begun.giveUp() {
			t.Error("a finished tenure was not given up")
		}
		waiting := newTenure(t.Context(), newClock(), lease)
		if !waiting.giveUp() || waiting.begin() {
			t.Error("a waiting tenure must be given up, and stay so")
		}
	})
}

func TestDeadline(t *testing.T) {
	inBubble(t, func(t *testing.T, store *dynamolease.Store) {
		c := newClock()
		lease := acquire(t, store, 5, "w1")
		if got, want := c.deadline(lease), c.now().add(testTTL); got != want {
			t.Errorf("deadline is %v off", got.sub(want))
		}
		time.Sleep(testTTL + time.Second)
		if got, want := c.deadline(lease), c.now(); got != want {
			t.Errorf("deadline of a lease that ran out is %v off", got.sub(want))
		}
	})
}

func TestHandDealsInOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, store *dynamolease.Store) {
		h := newHand()
		for _, partition := range []int{9, 2, 5} {
			h.add(newTenure(t.Context(), newClock(), acquire(t, store, partition, "w1")))
		}
		select {
		case <-h.dealt:
		default:
			t.Error("the work was not told")
		}
		for _, want := range []int{2, 5} {
			if got := h.next(); got == nil || got.partition != want {
				t.Fatalf("next = %v, want %d", got, want)
			}
		}
		all := h.all()
		h.remove(all[2])
		if got := h.next(); got != nil {
			t.Errorf("next = %v, want none", got.partition)
		}
		for _, tenure := range all {
			tenure.end(errReleased)
		}
	})
}
