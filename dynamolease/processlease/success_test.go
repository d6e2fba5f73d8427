package processlease_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

// What one call began and never heard of is not the success of another one, which wants something else, or later.
func TestSuccessOfAnotherCall(t *testing.T) {
	subtest(t, "resignation after a renewal that was applied", func(w *world) {
		a, b := w.boot(), w.boot()
		m := a.manage()
		a.Path.Next("UpdateItem", dynamotest.HangAfter())
		time.Sleep(2500 * time.Millisecond) // the renewal has landed, and its answer never comes
		if err := m.Resign(w.Context()); err != nil {
			w.Fatal(err)
		}
		if got := b.load(); !got.Resigned || got.Seq != 3 {
			w.Errorf("resigned, and the table has %v, resigned %v", got, got.Resigned)
		}
	})
	subtest(t, "acquisition after a resignation that was applied", func(w *world) {
		a, b := w.boot(), w.boot()
		m := a.manage()
		stop := a.Path.Every("UpdateItem", dynamotest.HangAfter())
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		if err := m.Resign(ctx); !errors.Is(err, dynamolease.ErrUnknownOutcome) {
			w.Fatalf("resigned: %v", err)
		}
		stop()
		if out, err := a.store.TryAcquire(w.Context(), a.owner); out.Acquired || err == nil {
			w.Errorf("acquired what it has resigned: %+v", out.Record)
		}
		if got := b.acquire(); got.Term != 2 {
			w.Errorf("the next boot has %v", got)
		}
	})
	subtest(t, "renewal long after one that was applied", func(w *world) {
		// Who acquires without a manager counts from when the call began. A rival has seen the head since the call before.
		a, b := w.boot(), w.boot()
		a.acquire()
		stop := a.Path.Every("UpdateItem", dynamotest.HangAfter())
		if _, err := a.store.TryAcquire(w.Context(), a.owner); !errors.Is(err, dynamolease.ErrUnknownOutcome) {
			w.Fatalf("acquired: %v", err)
		}
		stop()
		o := b.watched()
		out := a.try()
		if taken := b.tryTakeover(o); out.Acquired && taken.Acquired {
			w.Error("acquired, and taken over at once")
		}
		m, err := processlease.NewManager(w.Context(), out)
		if err != nil {
			w.Fatalf("acquired just now: %v", err)
		}
		m.Close()
	})
	subtest(t, "takeover long after one that was applied", func(w *world) {
		a, b := w.boot(), w.boot()
		last := a.acquire()
		o := b.watched()
		stop := b.Path.Every("TransactWriteItems", dynamotest.HangAfter())
		if _, err := b.store.TryTakeover(w.Context(), o); !errors.Is(err, dynamolease.ErrUnknownOutcome) {
			w.Fatalf("taken over: %v", err)
		}
		stop()
		time.Sleep(2 * ttl)
		out := b.tryTakeover(o)
		m, err := processlease.NewManager(w.Context(), out)
		if err != nil {
			w.Fatalf("taken over just now: %v", err)
		}
		m.Close()
		if f := out.Fence; f == nil || f.Predecessor != last || out.Record.Term != 2 || out.Record != w.boot().load() {
			w.Errorf("taken over: %+v", out)
		}
		if ok, err := a.authority.VerifyFence(w.Context(), *out.Fence); !ok || err != nil {
			w.Errorf("the fence: %v, %v", ok, err)
		}
	})
	subtest(t, "outage after a takeover that was applied", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		b.Path.Next("TransactWriteItems", dynamotest.All(dynamotest.Around(nil, func() {
			stop := b.Path.Every("", dynamotest.LoseRequest())
			time.AfterFunc(3*ttl/2, stop)
		}), dynamotest.LoseResponse()))
		out := b.outcome(b.store.Acquire(w.Context(), b.owner, time.Hour))
		m, err := processlease.NewManager(w.Context(), out)
		if err != nil {
			w.Fatalf("acquired just now: %v", err)
		}
		m.Close()
		if out.Fence == nil || out.Fence.Predecessor.Owner != a.owner {
			w.Errorf("fence %+v", out.Fence)
		}
	})
	subtest(t, "fence of a takeover that was applied", func(w *world) {
		// The boot before has resigned, and TryAcquire takes over.
		a, b := w.boot(), w.boot()
		if err := a.manage().Resign(w.Context()); err != nil {
			w.Fatal(err)
		}
		stop := b.Path.Every("TransactWriteItems", dynamotest.HangAfter())
		if _, err := b.store.TryAcquire(w.Context(), b.owner); !errors.Is(err, dynamolease.ErrUnknownOutcome) {
			w.Fatalf("acquired: %v", err)
		}
		stop()
		out := b.try()
		if !out.Acquired || out.Fence == nil || out.Fence.Predecessor.Owner != a.owner {
			w.Errorf("acquired: %+v", out)
		}
		if out := b.try(); out.Fence != nil {
			w.Errorf("a renewal took over: %+v", out)
		}
	})
	subtest(t, "many turned away after a takeover that was applied", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		o := b.watched()
		var stop func()
		b.Path.Next("TransactWriteItems", dynamotest.All(dynamotest.Around(nil, func() {
			stop = b.Path.Every("TransactWriteItems", dynamotest.Throttle())
		}), dynamotest.LoseResponse()))
		for range 20 {
			if out, err := b.store.TryTakeover(w.Context(), o); err == nil {
				w.Fatalf("taken over: %+v", out)
			}
		}
		stop()
		if out := b.tryTakeover(o); !out.Acquired || out.Fence == nil || out.Fence.Predecessor.Owner != a.owner {
			w.Errorf("taken over: %+v", out)
		}
	})
	subtest(t, "doubled", func(w *world) {
		a, b := w.boot(), w.boot()
		a.Path.Next("UpdateItem", dynamotest.Twice())
		if got := a.acquire(); got.Term != 1 || got.Seq != 1 {
			w.Errorf("acquired %v", got)
		}
		m := a.manage()
		a.Path.Next("UpdateItem", dynamotest.Twice())
		time.Sleep(3 * time.Second)
		if !m.Valid() || m.Record().Seq != 3 {
			w.Errorf("valid %v, %v", m.Valid(), m.Record())
		}
		a.Path.Next("UpdateItem", dynamotest.Twice())
		if err := m.Resign(w.Context()); err != nil || !b.load().Resigned {
			w.Errorf("resigned: %v, %v", err, b.load())
		}
	})
	subtest(t, "unknown to the end", func(w *world) {
		// The takeover may have been applied, and what failed after that does not tell.
		a, b := w.boot(), w.boot()
		a.acquire()
		b.Path.Next("TransactWriteItems", dynamotest.All(dynamotest.Around(nil, func() {
			b.Path.Every("", dynamotest.Throttle())
		}), dynamotest.LoseResponse()))
		_, err := b.store.Acquire(w.Context(), b.owner, time.Minute)
		if !errors.Is(err, processlease.ErrDeadline) || !errors.Is(err, dynamolease.ErrUnknownOutcome) {
			w.Errorf("acquired: %v", err)
		}
	})
}

// An acquisition that was given up or lost cannot be managed again.
func TestManagedAgain(t *testing.T) {
	subtest(t, "resigned", func(w *world) {
		a, b := w.boot(), w.boot()
		out := a.try()
		m, err := processlease.NewManager(w.Context(), out)
		if err != nil {
			w.Fatal(err)
		}
		if err := m.Resign(w.Context()); err != nil {
			w.Fatal(err)
		}
		b.acquire()
		m, err = processlease.NewManager(w.Context(), out)
		if argument := new(dynamolease.ArgumentError); !errors.As(err, &argument) {
			w.Errorf("resigned, and valid again: %v", err)
			m.Close()
		}
	})
	subtest(t, "lost", func(w *world) {
		a, b := w.boot(), w.boot()
		out := a.try()
		m, err := processlease.NewManager(w.Context(), out)
		if err != nil {
			w.Fatal(err)
		}
		o := b.observe()
		b.Pass(2 * ttl)
		b.tryTakeover(o)
		<-m.Done()
		if again, err := processlease.NewManager(w.Context(), out); err == nil {
			w.Error("lost, and valid again")
			again.Close()
		}
	})
}
