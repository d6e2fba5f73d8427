package coordinator_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// A loss is one way to lose partition 0, and what is told of it.
type loss struct {
	name   string
	modes  []coordinator.LeaseMode
	happen func(w *world, a *node)
	cause  error
	reason dynamolease.LossReason
	owner  string
}

var (
	anyMode  = []coordinator.LeaseMode{coordinator.Sessions, coordinator.PerLease}
	sessions = anyMode[:1]
	perLease = anyMode[1:]
)

func losses() []loss {
	takeRow := func(w *world, _ *node) {
		w.deleteRow(0)
		if _, acquired, err := w.look().Acquire(w.Context(), w.group, 0, "by hand", 40*ttl); !acquired || err != nil {
			w.Fatal(err)
		}
	}
	revoke := func(w *world, _ *node) {
		if _, _, err := w.look().Revoke(w.Context(), w.group, 0, w.epoch(0)); err != nil {
			w.Fatal(err)
		}
	}
	return []loss{
		{"CO26 taken", anyMode, takeRow, coordinator.ErrLost, dynamolease.LossTaken, "by hand"},
		{"CO26 nobody has it", sessions, func(w *world, _ *node) { w.deleteRow(0) }, coordinator.ErrLost, dynamolease.LossFreed, ""},
		{"CO26 row gone", perLease, func(w *world, _ *node) { w.deleteRow(0) }, coordinator.ErrLost, dynamolease.LossGone, ""},
		{"CO26 session's row gone", sessions, func(w *world, a *node) { w.deleteSession(a.State().Session) }, coordinator.ErrLost, dynamolease.LossGone, ""},
		{"CO26 unreachable", anyMode, func(_ *world, a *node) { a.path.Every("", dynamotest.Hang()) }, coordinator.ErrLost, dynamolease.LossUnreachable, ""},
		{"CO26 refused", anyMode, func(_ *world, a *node) { a.path.Every("", dynamotest.AccessDenied()) }, coordinator.ErrLost, dynamolease.LossUnreachable, ""},
		{"CO26 suspended", anyMode, func(_ *world, a *node) { a.wake(2 * ttl) }, coordinator.ErrLost, dynamolease.LossSuspended, ""},
		{"CO26 revoked", sessions, revoke, coordinator.ErrRevoked, dynamolease.LossRevoked, ""},
		{"CO26 revoked", perLease, revoke, coordinator.ErrLost, dynamolease.LossRevoked, ""},
		{"CO26 closed", sessions, func(w *world, a *node) {
			w.setSession(a.State().Session, map[string]int64{"left": 1, "exp": 1})
		}, coordinator.ErrLost, dynamolease.LossClosed, ""},
		{"CO26 replaced", anyMode, func(w *world, _ *node) { w.start("a", 1).path.Every("Query", onRow("L#", dynamotest.Throttle())) }, coordinator.ErrShutdown, "", ""},
	}
}

// epoch returns the epoch under which a partition is worked.
func (w *world) epoch(partition int) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.epochs[place{w.group, partition}]
}

// CO26: why a lease was lost is told alike in the handler's cause, in the hook and in the log.
func TestLossesCO26(t *testing.T) {
	t.Parallel()
	for _, l := range losses() {
		for _, mode := range l.modes {
			t.Run(l.name+map[coordinator.LeaseMode]string{coordinator.Sessions: ", in a session", coordinator.PerLease: ", per lease"}[mode], func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					w.lenient = true
					var mu sync.Mutex
					var hooked []error
					told := new(records)
					a := w.start("a", 1, inMode(mode), func(c *coordinator.Config) {
						c.Logger = slog.New(told)
						c.Hooks.Lost = func(_ dynamolease.Lease, cause error) {
							mu.Lock()
							defer mu.Unlock()
							hooked = append(hooked, cause)
						}
					})
					w.within(round, "worked", func() bool { return w.busy() == 1 })
					time.Sleep(2 * round)
					l.happen(w, a)
					w.within(35*round, "told", func() bool { return !w.history(0)[0].told.IsZero() })
					time.Sleep(2 * round)
					l.check(w, "the handler", w.history(0)[0].cause)
					mu.Lock()
					defer mu.Unlock()
					if len(hooked) == 0 {
						w.Fatal("the hook was not told")
					}
					l.check(w, "the hook", hooked[0])
					l.check(w, "the log", firstCause(told.take()))
				})
			})
		}
	}
}

func (l loss) check(w *world, who string, cause error) {
	w.Helper()
	var found *dynamolease.LossError
	switch {
	case !errors.Is(cause, l.cause):
		w.Errorf("%s is told %v, want %v", who, cause, l.cause)
	case l.reason == "":
		if !errors.Is(cause, coordinator.ErrReplaced) {
			w.Errorf("%s is told %v, want that it was replaced", who, cause)
		}
	case errors.As(cause, &found) && l.reason == dynamolease.LossGone && found.Reason == dynamolease.LossFreed:
		// a round has found out before the renewal, which sees no rows of free partitions
	case found == nil || found.Reason != l.reason || found.Owner != l.owner || (found.Epoch > 0) != (l.owner != ""):
		w.Errorf("%s is told %v (%+v), want %s", who, cause, found, l.reason)
	case l.reason == dynamolease.LossUnreachable && found.Err == nil:
		w.Errorf("%s is not told why the store could not be reached: %v", who, cause)
	}
}

// firstCause returns the first cause in the log.
func firstCause(list []slog.Record) (cause error) {
	for _, r := range list {
		r.Attrs(func(a slog.Attr) bool {
			if err, ok := a.Value.Any().(error); ok && a.Key == "cause" && cause == nil {
				cause = err
			}
			return true
		})
	}
	return cause
}

// CO26: a handler that fails, and whose lease was taken, is not called again; the hook is told by whom, though no round has found out.
func TestLossFoundByWorkCO26(t *testing.T) {
	inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
		w.lenient = true
		again := make(chan struct{})
		var hooked []error
		a := w.start("a", 1, inMode(mode), handling(func(context.Context, coordinator.Assignment) error {
			<-again
			return errors.New("again")
		}), func(c *coordinator.Config) {
			c.Interval, c.TTL = 10*ttl, 30*ttl
			c.Hooks.Lost = func(_ dynamolease.Lease, cause error) { hooked = append(hooked, cause) }
		})
		w.within(round, "worked", func() bool { return w.busy() == 1 })
		taken := losses()[0]
		taken.happen(w, a)
		close(again)
		time.Sleep(round) // and no round of the node
		synctest.Wait()
		if len(hooked) != 1 || len(w.history(0)) != 1 {
			w.Fatalf("told %v, %d calls", hooked, len(w.history(0)))
		}
		taken.check(w, "the hook", hooked[0])
	})
}
