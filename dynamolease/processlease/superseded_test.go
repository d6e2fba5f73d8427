package processlease_test

import (
	"errors"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

// calls are those that an owner makes to get the lease.
func (b *boot) calls() map[string]func() error {
	ctx := b.w.Context()
	return map[string]func() error{
		"Acquire":      func() error { _, err := b.store.Acquire(ctx, b.owner, time.Minute); return err },
		"TryAcquire":   func() error { _, err := b.store.TryAcquire(ctx, b.owner); return err },
		"ObserveRival": func() error { _, err := b.store.ObserveRival(ctx, b.owner); return err },
	}
}

// An owner that had the lease and lost it is told so, by every call and however it came about. Rows are in order, and the error
// says so; where they are not, the error names the row.
func TestSupersededPL34(t *testing.T) {
	told := func(w *world, a *boot, calls ...string) {
		w.Helper()
		for _, name := range calls {
			err := a.calls()[name]()
			var row *dynamolease.RowError
			if !errors.Is(err, processlease.ErrSuperseded) || errors.Is(err, processlease.ErrInvalid) || errors.As(err, &row) ||
				errors.Is(err, processlease.ErrIO) || errors.Is(err, dynamolease.ErrUnknownOutcome) {
				w.Errorf("%s: %v", name, err)
			}
		}
	}
	subtest(t, "PL34/resigned", func(w *world) {
		a := w.boot()
		if err := a.manage().Resign(w.Context()); err != nil {
			w.Fatal(err)
		}
		told(w, a, "Acquire", "TryAcquire")
	})
	subtest(t, "PL34/superseded", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		b.takeOver()
		told(w, a, "Acquire", "ObserveRival")
		if held := a.refused(); held.Owner != b.owner {
			w.Errorf("held by %v", held)
		}
	})
	subtest(t, "PL34/its successor has resigned", func(w *world) {
		a, b := w.boot(), w.boot()
		m := b.bringUp(a)
		if err := m.Resign(w.Context()); err != nil {
			w.Fatal(err)
		}
		told(w, a, "Acquire", "TryAcquire", "ObserveRival")
	})
	subtest(t, "PL34/fenced", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		b.fenced(a)
		told(w, a, "Acquire", "ObserveRival")
	})
	subtest(t, "PL34/the head was deleted", func(w *world) {
		a, b, c := w.boot(), w.boot(), w.boot()
		a.acquire()
		b.takeOver()
		w.remove("HEAD")
		told(w, a, "Acquire", "TryAcquire")
		if got := c.acquire(); got.Term != 1 { // a new owner can begin again
			w.Errorf("acquired %v", got)
		}
	})
	subtest(t, "PL34/malformed", func(w *world) {
		a, b := w.boot(), w.boot()
		m := b.bringUp(a)
		if err := m.Resign(w.Context()); err != nil {
			w.Fatal(err)
		}
		fence := "F#" + a.owner.String()
		good := w.row(fence)
		for _, sk := range []string{fence, "HEAD"} {
			w.Put(good)
			w.meddle(sk, "node", number("1"))
			for name, call := range a.calls() {
				err := call()
				row := new(dynamolease.RowError)
				if errors.Is(err, processlease.ErrSuperseded) || !errors.Is(err, processlease.ErrInvalid) || !errors.As(err, &row) || row.SK != sk {
					w.Errorf("%s with a malformed %s: %v", name, sk, err)
				}
			}
		}
	})
}
