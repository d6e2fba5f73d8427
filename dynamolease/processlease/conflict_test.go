package processlease_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

// conflicts makes the next writes meet a transaction of somebody else, and returns when they and those after them came.
func (b *boot) conflicts(n int) func() []time.Duration {
	var mu sync.Mutex
	var times []time.Duration
	note := dynamotest.Around(func() {
		mu.Lock()
		defer mu.Unlock()
		times = append(times, time.Duration(time.Now().UnixNano()))
	}, nil)
	b.Path.Every("UpdateItem", note)
	b.Path.Every("TransactWriteItems", note)
	for range n {
		b.Path.Next("UpdateItem", dynamotest.Conflict())
		b.Path.Next("TransactWriteItems", dynamotest.Cancelled("TransactionConflict", "None", "None"))
	}
	return func() []time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(times)
	}
}

// Every write of a head meets conflicts, one after the other: it is tried again after 20 to 50 ms, and works.
func TestConflicts(t *testing.T) {
	const conflicts = 30
	took := func(out processlease.Result, err error) error {
		if err == nil && !out.Acquired {
			return errors.New("not acquired")
		}
		return err
	}
	for name, prepare := range map[string]func(w *world, a, b *boot) (write func() error){
		"first acquisition": func(w *world, a, b *boot) func() error {
			return func() error { return took(a.store.TryAcquire(w.Context(), a.owner)) }
		},
		"acquire in one call": func(w *world, a, b *boot) func() error {
			b.acquire()
			return func() error { return took(a.store.Acquire(w.Context(), a.owner, time.Minute)) }
		},
		"renewal": func(w *world, a, b *boot) func() error {
			a.acquire()
			return func() error { return took(a.store.TryAcquire(w.Context(), a.owner)) }
		},
		"takeover": func(w *world, a, b *boot) func() error {
			b.acquire()
			o := a.watched()
			return func() error { return took(a.store.TryTakeover(w.Context(), o)) }
		},
		"after a resignation": func(w *world, a, b *boot) func() error {
			if err := b.manage().Resign(w.Context()); err != nil {
				w.Fatal(err)
			}
			return func() error { return took(a.store.TryAcquire(w.Context(), a.owner)) }
		},
		"fence": func(w *world, a, b *boot) func() error {
			b.acquire()
			return func() error { _, err := a.fence(b); return err }
		},
		"resign": func(w *world, a, b *boot) func() error {
			m := a.manage()
			return func() error { return m.Resign(w.Context()) }
		},
		"manager": func(w *world, a, b *boot) func() error {
			m := a.manage()
			return func() error {
				time.Sleep(4 * time.Second)
				if !m.Valid() || m.Record().Seq < 2 {
					return errors.New("not renewed")
				}
				return nil
			}
		},
	} {
		subtest(t, "PL26/"+name, func(w *world) {
			a, b := w.boot(), w.boot()
			write := prepare(w, a, b)
			times := a.conflicts(conflicts)
			if err := write(); err != nil {
				w.Fatal(err)
			}
			got := times()
			if len(got) <= conflicts {
				w.Fatalf("%d writes", len(got))
			}
			for i := range conflicts {
				if gap := got[i+1] - got[i]; gap < 20*time.Millisecond || gap > 50*time.Millisecond {
					w.Errorf("conflict %d: tried again after %v", i, gap)
				}
			}
		})
	}
	subtest(t, "PL26/for ever", func(w *world) {
		a, b := w.boot(), w.boot()
		m := a.manage()
		stop := a.Path.Every("UpdateItem", dynamotest.Conflict())
		began := time.Now()
		_, err := a.store.TryAcquire(w.Context(), a.owner)
		if !errors.Is(err, processlease.ErrIO) || errors.Is(err, dynamolease.ErrUnknownOutcome) || time.Since(began) > ttl/2 {
			w.Errorf("after %v: %v", time.Since(began), err)
		}
		a.ended(m)
		if time.Since(began) != ttl || !errors.Is(m.Err(), processlease.ErrDeadline) {
			w.Errorf("over after %v: %v", time.Since(began), m.Err())
		}
		stop()
		if held := b.refused(); held.Owner != a.owner || held.Seq != 1 {
			w.Errorf("held by %v", held)
		}
	})
	subtest(t, "PL26/nearly for ever", func(w *world) {
		// A gap in the last moment saves the lease: the deadline has not moved, and nothing is counted as lost.
		a := w.boot()
		m := a.manage()
		stop := a.Path.Every("UpdateItem", dynamotest.Conflict())
		time.Sleep(ttl - 300*time.Millisecond)
		if !m.Valid() || m.Remaining() != 300*time.Millisecond {
			w.Errorf("valid %v, %v remaining", m.Valid(), m.Remaining())
		}
		stop()
		time.Sleep(ttl)
		if !m.Valid() {
			w.Error(m.Err())
		}
	})
	subtest(t, "PL27/suspended between two attempts", func(w *world) {
		a := w.boot()
		m := a.manage()
		a.Path.Next("UpdateItem", dynamotest.All(dynamotest.Around(nil, func() { a.Step(ttl) }), dynamotest.Conflict()))
		a.ended(m)
		time.Sleep(ttl)
		if n := a.writes(); n != 2 { // the acquisition, and the attempt before the suspend
			w.Errorf("%d writes", n)
		}
		a.over(m, processlease.ErrDeadline)
	})
}
