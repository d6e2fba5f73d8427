package processlease_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/dynamolease/processlease"
	"github.com/dynamolease/dynamolease/internal/elapsed"
)

func TestFencing(t *testing.T) {
	subtest(t, "PL14/a ttl and the requests", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		full := b.observe().Remaining()
		got, err := b.authority.FencingDeadline(3 * time.Second)
		if want := time.Now().Add(full + 3*time.Second); err != nil || !got.Equal(want) {
			w.Errorf("%v, %v, want %v", got, err, want)
		}
		if allowance := full - ttl; allowance < 0 || allowance > ttl/1000+2*elapsed.Doubt {
			w.Errorf("a full ttl is observed for %v", full)
		}
		for _, io := range []time.Duration{0, -1} {
			_, err := b.authority.FencingDeadline(io)
			if argument := new(dynamolease.ArgumentError); !errors.As(err, &argument) {
				w.Errorf("io %v: %v", io, err)
			}
		}
	})
	subtest(t, "PL15/silent", func(w *world) {
		a, b := w.boot(), w.boot()
		last := a.acquire()
		began := time.Now()
		f := b.fenced(a)
		if took := time.Since(began); took < ttl || took > ttl+time.Second {
			w.Errorf("fenced after %v", took)
		}
		if f.Predecessor != last || f.Successor.Term != 2 || f.Successor.Owner == b.owner || f.Successor != b.load() {
			w.Errorf("fence %+v", f)
		}
		if holds, err := w.boot().authority.VerifyFence(w.Context(), f); !holds || err != nil {
			w.Errorf("verified: %v, %v", holds, err)
		}
	})
	subtest(t, "PL15/verified", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		before := w.row("HEAD")
		b.fenced(a)
		after, evidence := w.row("HEAD"), w.row("T#00000000000000000002")
		w.remove("T#00000000000000000002")
		if f, err := b.fence(a); !errors.Is(err, processlease.ErrMissing) {
			w.Errorf("half of the proof is gone: %+v, %v", f, err)
		}
		w.Put(evidence)
		before["owner"] = text(uuid.NewString()) // a head of another owner, from before
		w.Put(before)
		if f, err := b.fence(a); !errors.Is(err, processlease.ErrInvalid) {
			w.Errorf("the head has gone back: %+v, %v", f, err)
		}
		w.Put(after)
		b.fenced(a)
	})
	subtest(t, "PL15/one boot after the other", func(w *world) {
		// Each is superseded by an owner of its own that nobody is, and the next boot is never locked out.
		a, fencer := w.boot(), w.boot()
		a.acquire()
		owners := make(map[uuid.UUID]bool)
		for range 3 {
			f := fencer.fenced(a)
			if owners[f.Successor.Owner] {
				w.Errorf("superseded by %v once more", f.Successor.Owner)
			}
			owners[f.Successor.Owner] = true
			a = w.boot()
			a.takeOver()
		}
	})
	subtest(t, "PL15/lost answers", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		b.Path.Next("TransactWriteItems", dynamotest.LoseResponse())
		b.Path.Next("GetItem", dynamotest.LoseResponse())
		if f := b.fenced(a); f.Successor.Term != 2 || f.Successor.Seq != 2 {
			w.Errorf("fence %+v", f)
		}
	})
	subtest(t, "PL16/at the last moment", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		door := dynamotest.NewDoor()
		b.Path.Next("TransactWriteItems", door.Hold)
		failed := make(chan error)
		go func() { _, err := b.fence(a); failed <- err }()
		<-door.Arrived()
		renewed := a.acquire() // a full ttl after it was observed, and just before the takeover arrives
		door.Release()
		if err := <-failed; !errors.Is(err, processlease.ErrRenewed) {
			w.Errorf("fenced: %v", err)
		}
		if got, rows := b.load(), w.rows(); got != renewed || len(rows) != 1 {
			w.Errorf("the table has %v, rows %v", got, rows)
		}
	})
	subtest(t, "PL16/in the middle", func(w *world) {
		a, b := w.boot(), w.boot()
		a.manage()
		if _, err := b.fence(a); !errors.Is(err, processlease.ErrRenewed) {
			w.Errorf("fenced: %v", err)
		}
		if b.load().Term != 1 {
			w.Errorf("the table has %v", b.load())
		}
	})
	subtest(t, "PL17/the same proof for ever", func(w *world) {
		a, b, c := w.boot(), w.boot(), w.boot()
		a.acquire()
		first := b.takeOver()
		check := func(when string) {
			w.Helper()
			began := time.Now()
			f, err := c.authority.FenceIncarnation(w.Context(), a.participant())
			if err != nil || f.Predecessor.Owner != a.owner || f.Successor != first || time.Since(began) > 0 {
				w.Errorf("%s: %+v, %v after %v", when, f, err, time.Since(began))
			}
		}
		check("superseded")
		check("once more")
		b.acquire()
		check("renewed since")
		w.boot().takeOver()
		check("in the third term")
		w.boot().takeOver()
		check("in the fourth term")
		if c.writes() != 0 {
			w.Errorf("%d writes", c.writes())
		}
	})
	subtest(t, "PL18/two at once", func(w *world) {
		a, b, c := w.boot(), w.boot(), w.boot()
		a.acquire()
		door := dynamotest.NewDoor()
		b.Path.Next("TransactWriteItems", door.Hold)
		late := make(chan processlease.Fence)
		go func() { late <- b.fenced(a) }()
		won := c.fenced(a)
		<-door.Arrived()
		door.Release()
		if lost := <-late; lost != won || won.Successor.Term != 2 {
			w.Errorf("one fenced %+v, the other %+v", won, lost)
		}
	})
	subtest(t, "PL19/at once", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		ctx, cancel := context.WithTimeout(w.Context(), ttl)
		defer cancel()
		began := time.Now()
		_, err := b.authority.FenceIncarnation(ctx, a.participant())
		if !errors.Is(err, processlease.ErrDeadline) || time.Since(began) > 0 || b.writes() != 0 {
			w.Errorf("%v after %v and %d writes", err, time.Since(began), b.writes())
		}
		// What needs no wait needs no such deadline.
		b.fenced(a)
		if _, err := b.authority.FenceIncarnation(ctx, a.participant()); !errors.Is(err, processlease.ErrDeadline) {
			w.Errorf("the deadline has passed: %v", err)
		}
		soon, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		if _, err := b.authority.FenceIncarnation(soon, a.participant()); err != nil {
			w.Errorf("superseded already: %v", err)
		}
	})
	subtest(t, "PL19/later", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		b.Path.Every("TransactWriteItems", dynamotest.Hang())
		_, err := b.fence(a)
		if !errors.Is(err, processlease.ErrDeadline) || !errors.Is(err, dynamolease.ErrUnknownOutcome) {
			w.Errorf("the deadline passes while it takes over: %v", err)
		}
		ctx, cancel := context.WithCancel(w.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := b.authority.FenceIncarnation(ctx, a.participant()); !errors.Is(err, context.Canceled) || errors.Is(err, processlease.ErrDeadline) {
			w.Errorf("cancelled: %v", err)
		}
	})
	subtest(t, "PL20/errors of their own", func(w *world) {
		a, b := w.boot(), w.boot()
		if _, err := b.fence(a); !errors.Is(err, processlease.ErrMissing) || !errors.Is(err, processlease.ErrInvalid) {
			w.Errorf("no head: %v", err)
		}
		a.acquire()
		stranger := processlease.Participant{Node: w.node, Owner: uuid.New()}
		if _, err := b.authority.FenceIncarnation(w.Context(), stranger); !errors.Is(err, processlease.ErrMissing) {
			w.Errorf("never held it: %v", err)
		}
		b.fenced(a)
		w.remove("F#" + a.owner.String())
		if _, err := b.fence(a); !errors.Is(err, processlease.ErrMissing) {
			w.Errorf("evidence deleted: %v", err)
		}
		if b.writes() != 1 {
			w.Errorf("%d writes", b.writes())
		}
	})
	subtest(t, "PL23/the next boot waits", func(w *world) {
		a, b, next := w.boot(), w.boot(), w.boot()
		a.acquire()
		f := b.fenced(a)
		if held := next.refused(); held != f.Successor {
			w.Errorf("the phantom holds %v, want %v", held, f.Successor)
		}
		began := time.Now()
		out := next.outcome(next.store.Acquire(w.Context(), next.owner, time.Minute))
		if took := time.Since(began); out.Record.Term != 3 || took < ttl || took > ttl+time.Second {
			w.Errorf("%v after %v", out.Record, took)
		}
	})
	subtest(t, "one that resigned", func(w *world) {
		a, b := w.boot(), w.boot()
		m := a.manage()
		time.AfterFunc(5*time.Second, func() {
			if err := m.Resign(context.Background()); err != nil {
				w.Error(err)
			}
		})
		f := b.fenced(a)
		if !f.Predecessor.Resigned || f.Successor.Resigned || f.Successor.Term != 2 {
			w.Errorf("fence %+v", f)
		}
		if holds, err := b.authority.VerifyFence(w.Context(), f); !holds || err != nil {
			w.Errorf("verified: %v, %v", holds, err)
		}
	})
}
