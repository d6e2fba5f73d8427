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

// givenUp checks that the next boot need not wait.
func (b *boot) givenUp() {
	b.w.Helper()
	began := time.Now()
	if out := b.try(); !out.Acquired || time.Since(began) >= ttl {
		b.w.Errorf("not given up: %+v after %v", out, time.Since(began))
	}
}

// Whatever becomes of the first resignation, a later one works, and nil means that it is given up.
func TestResignLS52(t *testing.T) {
	faults := map[string]func() dynamotest.Fault{
		"lost request": dynamotest.LoseRequest, "lost response": dynamotest.LoseResponse, "hang": dynamotest.Hang,
		"hang after": dynamotest.HangAfter, "throttled": dynamotest.Throttle, "conflict": dynamotest.Conflict,
		"denied": dynamotest.AccessDenied, "500": func() dynamotest.Fault { return dynamotest.ServerError(500) },
		"503":     func() dynamotest.Fault { return dynamotest.ServerError(503) },
		"invalid": func() dynamotest.Fault { return dynamotest.Reply(400, "ValidationException", "") },
	}
	for name, fault := range faults {
		for _, operation := range []string{"", "UpdateItem"} {
			subtest(t, "LS52/"+name+" "+operation, func(w *world) {
				a, b := w.boot(), w.boot()
				m := a.manage()
				stop := a.Path.Every(operation, fault())
				for range 2 {
					if err := m.Resign(w.Context()); err == nil && !b.load().Resigned {
						w.Error("nil, and not given up")
					}
				}
				stop()
				if err := m.Resign(w.Context()); err != nil {
					w.Fatal(err)
				}
				b.givenUp()
				if err := m.Resign(w.Context()); err != nil || b.load().Owner != b.owner {
					w.Errorf("once more: %v, %v", err, b.load())
				}
			})
		}
	}
	subtest(t, "LS52/cancelled", func(w *world) {
		a, b := w.boot(), w.boot()
		m := a.manage()
		ctx, cancel := context.WithCancel(w.Context())
		cancel()
		if err := m.Resign(ctx); !errors.Is(err, context.Canceled) {
			w.Errorf("cancelled: %v", err)
		}
		if err := m.Resign(w.Context()); err != nil {
			w.Fatal(err)
		}
		b.givenUp()
	})
	subtest(t, "LS52/arrives late", func(w *world) {
		// The first one arrives after the next boot has the lease.
		a, b := w.boot(), w.boot()
		m := a.manage()
		deliver := make(chan struct{})
		a.Path.Next("UpdateItem", dynamotest.All(dynamotest.Hang(), dynamotest.Late(deliver)))
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		if err := m.Resign(ctx); !errors.Is(err, dynamolease.ErrUnknownOutcome) {
			w.Errorf("unanswered: %v", err)
		}
		if err := m.Resign(w.Context()); err != nil {
			w.Fatal(err)
		}
		mb := b.begins(b.try())
		close(deliver)
		a.Path.Close()
		time.Sleep(2 * ttl)
		if got := b.load(); got.Owner != b.owner || got.Resigned || !mb.Valid() {
			w.Errorf("%v, valid %v", got, mb.Valid())
		}
	})
	subtest(t, "LS52/renewed meanwhile", func(w *world) {
		// The boot asks for its lease again after a resignation that failed.
		a, b := w.boot(), w.boot()
		m := a.manage()
		stop := a.Path.Every("UpdateItem", dynamotest.Throttle())
		if err := m.Resign(w.Context()); err == nil {
			w.Error("resigned")
		}
		stop()
		a.acquire()
		if err := m.Resign(w.Context()); err != nil {
			w.Fatal(err)
		}
		b.givenUp()
	})
	subtest(t, "LS52/taken over meanwhile", func(w *world) {
		a, b := w.boot(), w.boot()
		m := a.manage()
		stop := a.Path.Every("", dynamotest.LoseRequest())
		if err := m.Resign(w.Context()); err == nil {
			w.Error("resigned")
		}
		won := b.takeOver()
		stop()
		if err := m.Resign(w.Context()); err != nil || b.load() != won {
			w.Errorf("%v, %v", err, b.load())
		}
	})
	for name, known := range map[string]bool{"known": true, "forgotten": false} {
		subtest(t, "LS52/head deleted, "+name, func(w *world) {
			a, b := w.boot(), w.boot()
			m := a.manage()
			if !known { // another boot uses the same identity, so that it knows another record
				if _, err := a.store.TryAcquire(w.Context(), b.owner); err != nil {
					w.Fatal(err)
				}
			}
			w.remove("HEAD")
			for range 2 {
				if err := m.Resign(w.Context()); err != nil {
					w.Error(err)
				}
			}
			if rows := w.rows(); len(rows) > 0 {
				w.Errorf("rows %v", rows)
			}
			b.givenUp()
		})
	}
}

// What a call deleted from under it says: only a resignation has nothing to do then.
func TestHeadIsDeletedMeanwhile(t *testing.T) {
	remove := func(w *world) dynamotest.Fault { return dynamotest.Around(func() { w.remove("HEAD") }, nil) }
	for name, call := range map[string]func(a *boot, o processlease.Observation) (processlease.Result, error){
		"acquire": func(a *boot, _ processlease.Observation) (processlease.Result, error) {
			return a.store.TryAcquire(a.w.Context(), a.owner)
		},
		"take over": func(a *boot, o processlease.Observation) (processlease.Result, error) {
			return a.store.TryTakeover(a.w.Context(), o)
		},
	} {
		subtest(t, "PL12/"+name, func(w *world) {
			a, b := w.boot(), w.boot()
			var o processlease.Observation
			if name == "acquire" {
				a.acquire()
			} else {
				b.acquire()
				o = a.watched()
			}
			a.Path.Next("UpdateItem", remove(w))
			a.Path.Next("TransactWriteItems", remove(w))
			out, err := call(a, o)
			if !errors.Is(err, processlease.ErrMissing) || out.Acquired || len(w.rows()) > 0 {
				w.Errorf("%+v, %v, rows %v", out, err, w.rows())
			}
		})
	}
}
