package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// A candidate is a node that takes part in an election.
type candidate struct {
	*node
}

// candidate makes a node that takes part in the election of the world's group. Its lead is watched.
func (w *world) candidate(name string, lead coordinator.Handler) *candidate {
	w.Helper()
	n := w.prepare(name, 1)
	ctx, cancel := context.WithCancel(context.Background())
	n.cancel = cancel
	cfg := coordinator.Config{Service: w.service, Node: name, Address: name + ":1", TTL: ttl, Interval: interval, Logger: slog.New(slog.DiscardHandler)}
	go func() {
		defer close(n.over)
		n.err = coordinator.Elect(ctx, n.store, cfg, w.group, w.watched(n, lead))
	}()
	w.Cleanup(func() {
		cancel()
		<-n.over
		n.store.Close()
	})
	return &candidate{n}
}

// leader returns the node that leads, or nil.
func (w *world) leader() *node { return w.worker(0) }

// One leader at a time, while candidates join, crash, are cut off, resign and stop.
func TestElect(t *testing.T) {
	t.Parallel()
	t.Run("joins", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			a := w.candidate("b", wait)
			w.within(round, "elected", func() bool { return w.leader() == a.node })
			w.candidate("a", wait)
			w.candidate("c", wait)
			w.always(20*round, "leading", func() bool { return w.leader() == a.node })
			if w.moves() != 1 {
				w.Errorf("%d elections", w.moves())
			}
		})
	})
	t.Run("crash", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			candidates := []*candidate{w.candidate("a", wait), w.candidate("b", wait), w.candidate("c", wait)}
			for range 2 {
				w.within(3*round, "elected", func() bool { return w.leader() != nil })
				time.Sleep(3 * round)
				leader := w.leader()
				leader.crash()
				w.within(ttl+grace+2*round, "elected", func() bool { return w.leader() != nil && w.leader() != leader })
			}
			if w.moves() != 3 || len(candidates) != 3 {
				w.Errorf("%d elections", w.moves())
			}
		})
	})
	t.Run("resigns", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			enough := errors.New("enough")
			a := w.candidate("a", func(ctx context.Context, _ coordinator.Assignment) error {
				select {
				case <-ctx.Done():
				case <-time.After(time.Minute):
				}
				return enough
			})
			w.within(round, "elected", func() bool { return w.leader() == a.node })
			b := w.candidate("b", wait)
			<-a.over
			if !errors.Is(a.err, enough) {
				w.Errorf("Elect: %v", a.err)
			}
			w.within(round, "followed", func() bool { return w.leader() == b.node })
		})
	})
	t.Run("resigns without an error", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			a := w.candidate("a", func(context.Context, coordinator.Assignment) error { return nil })
			<-a.over
			if a.err != nil || w.moves() != 1 {
				w.Errorf("%v after %d elections", a.err, w.moves())
			}
		})
	})
	t.Run("panics", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			var calls atomic.Int32
			a := w.candidate("a", func(ctx context.Context, lease coordinator.Assignment) error {
				if calls.Add(1) == 1 {
					panic("leader")
				}
				return wait(ctx, lease)
			})
			w.within(2*round, "leading again", func() bool { return calls.Load() == 2 && w.leader() == a.node })
		})
	})
	t.Run("lost and elected again", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			a := w.candidate("a", func(ctx context.Context, _ coordinator.Assignment) error {
				<-ctx.Done()
				time.Sleep(ttl)
				return errors.New("not a resignation")
			})
			w.within(round, "elected", func() bool { return w.leader() == a.node })
			heal := a.path.Every("", dynamotest.Hang())
			time.Sleep(2 * ttl)
			heal()
			w.within(ttl+3*round, "elected again", func() bool { return len(w.all(a.node)) == 2 })
			if runs := w.all(a.node); !errors.Is(runs[0].cause, coordinator.ErrLost) || runs[1].lease.Epoch <= runs[0].lease.Epoch {
				w.Errorf("%+v", runs)
			}
		})
	})
	t.Run("stops", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			a := w.candidate("a", wait)
			w.within(round, "elected", func() bool { return w.leader() == a.node })
			a.cancel()
			<-a.over
			if runs := w.all(a.node); a.err != nil || !errors.Is(runs[0].cause, coordinator.ErrShutdown) {
				w.Errorf("%v, %+v", a.err, runs)
			}
		})
	})
	t.Run("stops before it was elected", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			w.candidate("a", wait)
			time.Sleep(round)
			b := w.candidate("b", wait)
			time.Sleep(round)
			b.cancel()
			<-b.over
			if b.err != nil || len(w.all(b.node)) != 0 {
				w.Errorf("%v", b.err)
			}
		})
	})
	t.Run("cut off", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			var candidates []*candidate
			for i := range 3 {
				candidates = append(candidates, w.candidate(fmt.Sprint("n", i), wait))
			}
			for range 3 {
				w.within(ttl+3*round, "elected", func() bool { return w.leader() != nil })
				time.Sleep(3 * round)
				leader := w.leader()
				heal := leader.path.Every("", dynamotest.Hang())
				w.within(ttl+grace+2*round, "followed", func() bool { return w.leader() != nil && w.leader() != leader })
				heal()
			}
			if len(candidates) != 3 || w.moves() != 4 {
				w.Errorf("%d elections", w.moves())
			}
		})
	})
}
