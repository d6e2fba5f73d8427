package processlease_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

func TestTryAcquire(t *testing.T) {
	subtest(t, "PL1/first boot", func(w *world) {
		a := w.boot()
		if _, found, err := a.store.Load(w.Context()); found || err != nil {
			w.Fatalf("a new node has a record: %v, %v", found, err)
		}
		want := processlease.Record{Node: w.node, Owner: a.owner, Term: 1, Seq: 1, ExpiresAt: time.Now().Add(ttl).UTC().Truncate(time.Millisecond)}
		if got := a.acquire(); got != want {
			w.Errorf("acquired %+v, want %+v", got, want)
		}
		if got := w.boot().load(); got != want {
			w.Errorf("loaded %+v, want %+v", got, want)
		}
	})
	subtest(t, "PL2/same term, next seq", func(w *world) {
		a := w.boot()
		first := a.acquire()
		time.Sleep(time.Second)
		a.Path.Reset()
		second := a.acquire()
		if second.Term != 1 || second.Seq != 2 || second.Owner != a.owner || !second.ExpiresAt.Equal(first.ExpiresAt.Add(time.Second)) {
			w.Errorf("renewed %v to %v", first, second)
		}
		if n := len(a.Path.Requests()); n != 1 {
			w.Errorf("a renewal took %d requests, want 1", n)
		}
		// A store that did not write the record reads it first.
		other := w.boot()
		other.owner = a.owner
		if got := other.acquire(); got.Seq != 3 || got != a.load() {
			w.Errorf("renewed by another store: %v", got)
		}
		if got := a.acquire(); got.Seq != 4 {
			w.Errorf("renewed by the first store again: %v", got)
		}
	})
	subtest(t, "PL3/whatever the expiry says", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		for _, exp := range []string{"1", "9007199254740991"} {
			w.meddle("HEAD", "exp", number(exp))
			time.Sleep(2 * ttl)
			held := a.load()
			if got := b.refused(); got != held {
				w.Errorf("exp %s: refused with %v, want %v", exp, got, held)
			}
		}
		if b.writes() != 0 || b.Path.Count("GetItem") != 2 {
			w.Errorf("a refusal took %d writes and %d reads, want 0 and 1", b.writes(), b.Path.Count("GetItem")/2)
		}
	})
	subtest(t, "PL7/two creators", func(w *world) {
		a, b := w.boot(), w.boot()
		door := dynamotest.NewDoor()
		a.Path.Next("UpdateItem", door.Hold)
		late := make(chan processlease.Result)
		go func() { late <- a.try() }()
		<-door.Arrived()
		won := b.acquire()
		door.Release()
		if lost := <-late; lost.Acquired || lost.Record != won {
			w.Errorf("the late creator got %+v, want the winner's %v", lost, won)
		}
		if got := w.boot().load(); got != won {
			w.Errorf("the table has %v, want %v", got, won)
		}
	})
}

// Lost answers of acquisitions and renewals. Takeovers are in TestTakeover.
func TestLostResponse(t *testing.T) {
	faults := map[string]func() dynamotest.Fault{
		"lost": dynamotest.LoseResponse,
		"hung": dynamotest.HangAfter,
		"twice lost": func() dynamotest.Fault {
			return dynamotest.All(dynamotest.LoseResponse(), dynamotest.Twice())
		},
	}
	for name, fault := range faults {
		subtest(t, "PL9/acquire/"+name, func(w *world) {
			a := w.boot()
			a.Path.Next("UpdateItem", fault())
			if got := a.acquire(); got.Term != 1 || got.Seq != 1 || got != w.boot().load() {
				w.Errorf("acquired %v", got)
			}
		})
		subtest(t, "PL9/renew/"+name, func(w *world) {
			a := w.boot()
			a.acquire()
			a.Path.Next("UpdateItem", fault())
			if got := a.acquire(); got.Term != 1 || got.Seq != 2 || got != w.boot().load() {
				w.Errorf("renewed %v", got)
			}
			if n := a.Path.Count("GetItem"); n != 2 {
				w.Errorf("%d reads, want only the first acquisition's", n)
			}
		})
	}
	subtest(t, "PL9/unknown", func(w *world) {
		a, b := w.boot(), w.boot()
		stop := a.Path.Every("UpdateItem", dynamotest.HangAfter())
		if _, err := a.store.TryAcquire(w.Context(), a.owner); !errors.Is(err, dynamolease.ErrUnknownOutcome) || !errors.Is(err, processlease.ErrIO) {
			w.Fatalf("every answer lost: %v", err)
		}
		stop()
		held := b.refused()
		if got := a.acquire(); held.Owner != a.owner || got.Term != 1 || got.Seq != 2 {
			w.Errorf("held %v, then %v", held, got)
		}
	})
	subtest(t, "PL9/cancelled", func(w *world) {
		a := w.boot()
		a.acquire()
		ctx, cancel := context.WithCancel(w.Context())
		a.Path.Next("UpdateItem", dynamotest.All(dynamotest.Around(nil, cancel), dynamotest.LoseResponse()))
		_, err := a.store.TryAcquire(ctx, a.owner)
		if !errors.Is(err, dynamolease.ErrUnknownOutcome) || !errors.Is(err, context.Canceled) {
			w.Fatalf("cancelled after it was applied: %v", err)
		}
		// The next call meets the write of the former one, and renews it: its caller counts from now on.
		if got := a.acquire(); got.Seq != 3 || got != w.boot().load() {
			w.Errorf("then %v", got)
		}
	})
	subtest(t, "PL9/another owner", func(w *world) {
		// A store that two owners use does not take the work of one for that of the other.
		a := w.boot()
		deliver := make(chan struct{})
		door := dynamotest.NewDoor()
		a.Path.Next("UpdateItem", dynamotest.All(dynamotest.HangAfter(), dynamotest.Late(deliver)))
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		if _, err := a.store.TryAcquire(ctx, a.owner); !errors.Is(err, dynamolease.ErrUnknownOutcome) {
			w.Fatal(err)
		}
		other := make(chan processlease.Result)
		a.Path.Next("UpdateItem", door.Hold)
		go func() { other <- a.outcome(a.store.TryAcquire(w.Context(), uuid.New())) }()
		<-door.Arrived()
		close(deliver)
		for b := w.boot(); ; {
			if _, found, err := b.store.Load(w.Context()); found || err != nil {
				break
			}
		}
		door.Release()
		if out := <-other; out.Acquired || out.Record.Owner != a.owner {
			w.Errorf("the other owner got %+v", out)
		}
	})
	subtest(t, "PL9/conflict", func(w *world) {
		a := w.boot()
		a.Path.Next("UpdateItem", dynamotest.Conflict())
		a.Path.Next("UpdateItem", dynamotest.Throttle())
		a.Path.Next("UpdateItem", dynamotest.ServerError(503))
		if got := a.acquire(); got.Seq != 1 {
			w.Errorf("acquired %v", got)
		}
		began := time.Now()
		defer a.Path.Every("UpdateItem", dynamotest.Throttle())()
		_, err := a.store.TryAcquire(w.Context(), a.owner)
		if !errors.Is(err, processlease.ErrIO) || errors.Is(err, dynamolease.ErrUnknownOutcome) || time.Since(began) > ttl/2 {
			w.Errorf("throttled for %v: %v", time.Since(began), err)
		}
	})
}

func TestAcquire(t *testing.T) {
	subtest(t, "free", func(w *world) {
		a := w.boot()
		out := a.outcome(a.store.Acquire(w.Context(), a.owner, time.Minute))
		if !out.Acquired || out.Record.Term != 1 || len(a.Path.Requests()) != 3 {
			w.Errorf("%+v after %d requests", out, len(a.Path.Requests()))
		}
	})
	subtest(t, "dead incumbent", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		began := time.Now()
		// Failures on the way cost no observation.
		b.Path.Next("GetItem", dynamotest.ServerError(500))
		b.Path.Next("TransactWriteItems", dynamotest.LoseRequest())
		b.Path.Next("TransactWriteItems", dynamotest.LoseResponse())
		out := b.outcome(b.store.Acquire(w.Context(), b.owner, time.Minute))
		if took := time.Since(began); !out.Acquired || out.Record.Term != 2 || took < ttl || took > ttl+time.Second {
			w.Errorf("%+v after %v", out, took)
		}
	})
	subtest(t, "outage at the end of the observation", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		began := time.Now()
		stop := b.Path.Every("TransactWriteItems", dynamotest.Throttle())
		time.AfterFunc(2*ttl, stop)
		out := b.outcome(b.store.Acquire(w.Context(), b.owner, time.Minute))
		// The observation is as good as before.
		if took := time.Since(began); out.Record.Term != 2 || took > 2*ttl+2*time.Second {
			w.Errorf("%+v after %v", out, took)
		}
	})
	subtest(t, "incumbent dies later", func(w *world) {
		a, b := w.boot(), w.boot()
		m := a.manage()
		time.AfterFunc(25*time.Second, m.Close)
		began := time.Now()
		out := b.outcome(b.store.Acquire(w.Context(), b.owner, time.Minute))
		// The last renewal is at 24 s, and it is noticed within a fifth of the ttl.
		if took := time.Since(began); out.Record.Term != 2 || took < 34*time.Second || took > 37*time.Second {
			w.Errorf("%+v after %v", out, took)
		}
	})
	subtest(t, "incumbent resigns", func(w *world) {
		a, b := w.boot(), w.boot()
		m := a.manage()
		time.AfterFunc(5*time.Second, func() {
			if err := m.Resign(context.Background()); err != nil {
				w.Error(err)
			}
		})
		began := time.Now()
		out := b.outcome(b.store.Acquire(w.Context(), b.owner, time.Minute))
		if took := time.Since(began); out.Record.Term != 2 || took < 5*time.Second || took > 8*time.Second {
			w.Errorf("%+v after %v", out, took)
		}
	})
	subtest(t, "budget", func(w *world) {
		a, b := w.boot(), w.boot()
		a.manage()
		began := time.Now()
		_, err := b.store.Acquire(w.Context(), b.owner, 35*time.Second)
		var held *processlease.HeldError
		if !errors.Is(err, processlease.ErrDeadline) || !errors.As(err, &held) || held.Record.Owner != a.owner {
			w.Errorf("got %v", err)
		}
		if took := time.Since(began); took != 35*time.Second {
			w.Errorf("took %v", took)
		}
	})
	subtest(t, "unreachable", func(w *world) {
		b := w.boot()
		b.Path.Every("", dynamotest.Hang())
		_, err := b.store.Acquire(w.Context(), b.owner, 35*time.Second)
		if !errors.Is(err, processlease.ErrDeadline) {
			w.Errorf("got %v", err)
		}
		ctx, cancel := context.WithTimeoutCause(w.Context(), time.Second, errors.New("shutting down"))
		defer cancel()
		if _, err := b.store.Acquire(ctx, b.owner, 35*time.Second); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, processlease.ErrDeadline) {
			w.Errorf("got %v", err)
		}
	})
	subtest(t, "superseded, unheard of", func(w *world) {
		a, b := w.boot(), w.boot()
		written := false
		a.Path.Every("", func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
			if written || !strings.HasSuffix(req.Header.Get("X-Amz-Target"), "UpdateItem") {
				return send(req)
			}
			written = true
			if _, err := send(req); err != nil {
				return nil, err
			}
			out, err := b.store.Acquire(w.Context(), b.owner, 3*ttl)
			if err != nil || out.Fence == nil {
				w.Errorf("the next boot: %+v, %v", out, err)
			}
			return nil, io.ErrUnexpectedEOF
		})
		_, err := a.store.Acquire(w.Context(), a.owner, time.Minute)
		if !errors.Is(err, processlease.ErrSuperseded) || errors.Is(err, dynamolease.ErrUnknownOutcome) || !written {
			w.Errorf("the boot that was superseded: %v", err)
		}
		if _, err := a.store.Acquire(w.Context(), uuid.New(), time.Minute); err != nil {
			w.Errorf("with a new owner: %v", err)
		}
	})
	subtest(t, "does not pass", func(w *world) {
		a, b := w.boot(), w.boot()
		b.Path.Next("GetItem", dynamotest.AccessDenied())
		_, err := b.store.Acquire(w.Context(), b.owner, time.Minute)
		if setup := new(dynamolease.SetupError); !errors.As(err, &setup) {
			w.Errorf("access denied: %v", err)
		}
		a.acquire()
		w.meddle("HEAD", "term", text("one"))
		if _, err := b.store.Acquire(w.Context(), b.owner, time.Minute); !errors.Is(err, processlease.ErrInvalid) {
			w.Errorf("malformed: %v", err)
		}
		for _, bad := range []func() error{
			func() error { _, err := b.store.Acquire(w.Context(), uuid.Nil, time.Minute); return err },
			func() error { _, err := b.store.Acquire(w.Context(), b.owner, 0); return err },
		} {
			if argument := new(dynamolease.ArgumentError); !errors.As(bad(), &argument) {
				w.Errorf("bad argument: %v", bad())
			}
		}
	})
}
