package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// A recorder keeps what hooks were called with.
type recorder struct {
	mu                   sync.Mutex
	rounds, beats, fails int
	events               []string // gained and lost, in order
	state                coordinator.State
	slow                 time.Duration
}

func (h *recorder) hooks() coordinator.Hooks {
	note := func(f func()) {
		time.Sleep(h.slow)
		h.mu.Lock()
		defer h.mu.Unlock()
		f()
	}
	return coordinator.Hooks{
		Round: func(s coordinator.State) { note(func() { h.rounds++; h.state = s }) },
		Gained: func(l dynamolease.Lease) {
			note(func() { h.events = append(h.events, fmt.Sprint("gained ", l.Partition)) })
		},
		Lost: func(l dynamolease.Lease, cause error) {
			note(func() { h.events = append(h.events, fmt.Sprintf("lost %d: %v", l.Partition, cause)) })
		},
		Renewed: func(took time.Duration, err error) {
			note(func() {
				h.beats++
				if err != nil {
					h.fails++
				}
			})
		},
	}
}

func (h *recorder) take() (events []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	events, h.events = h.events, nil
	slices.Sort(events)
	return events
}

func hooked(h coordinator.Hooks) setting { return func(c *coordinator.Config) { c.Hooks = h } }

func TestHooks(t *testing.T) {
	inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
		h := new(recorder)
		a := w.start("a", 2, inMode(mode), hooked(h.hooks()))
		w.settle(2, a)
		time.Sleep(10 * interval)
		if got := fmt.Sprint(h.take()); got != "[gained 0 gained 1]" {
			w.Errorf("told %s", got)
		}
		h.mu.Lock()
		if h.rounds < 9 || h.beats < 8 || h.fails != 0 || h.state.Rounds < int64(h.rounds)-1 {
			w.Errorf("%d rounds, %d beats, %d failures, %+v", h.rounds, h.beats, h.fails, h.state)
		}
		h.mu.Unlock()
		heal := a.path.Every("", dynamotest.Hang())
		time.Sleep(2 * ttl)
		heal()
		if got := h.take(); len(got) != 2 || !strings.HasPrefix(got[0], fmt.Sprintf("lost 0: %v", coordinator.ErrLost)) || !strings.HasPrefix(got[1], fmt.Sprintf("lost 1: %v", coordinator.ErrLost)) {
			w.Errorf("told %s", got)
		}
		w.settle(2, a)
		h.take()
		a.stop()
		shut := fmt.Sprintf("[lost 0: %v lost 1: %v]", coordinator.ErrShutdown, coordinator.ErrShutdown)
		if got := fmt.Sprint(h.take()); got != shut || h.fails == 0 {
			w.Errorf("told %s, %d failures", got, h.fails)
		}
	})
}

// Hooks that block, or panic, delay neither heartbeats nor handlers; nothing is kept for ever.
func TestHooksInTheWay(t *testing.T) {
	t.Parallel()
	for name, hooks := range map[string]coordinator.Hooks{
		"slow":  (&recorder{slow: 10 * time.Second}).hooks(),
		"panic": {Renewed: func(time.Duration, error) { panic("renewed") }, Gained: func(dynamolease.Lease) { panic("gained") }},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a := w.start("a", 3, hooked(hooks))
				w.settle(3, a)
				w.always(20*interval, "worked", func() bool { return w.balanced(3, a) && a.Health() == nil })
				a.stop()
				time.Sleep(time.Minute) // Run has left a slow hook to itself
			})
		})
	}
}

func TestHealth(t *testing.T) {
	inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
		a := w.prepare("a", 2, inMode(mode))
		if a.Health() == nil {
			w.Error("healthy before it has joined")
		}
		a.begin(w.Context())
		w.settle(2, a)
		w.always(5*interval, "healthy", func() bool { return a.Health() == nil })
		heal := a.path.Every("UpdateItem", dynamotest.AccessDenied())
		healPlain := a.path.Every("TransactWriteItems", dynamotest.AccessDenied())
		unwell := w.within(ttl, "unwell", func() bool { return a.Health() != nil })
		if unwell > ttl/2+tick || w.busy() != 2 {
			w.Errorf("unwell after %v, with %d partitions", unwell, w.busy())
		}
		var setup *dynamolease.SetupError
		if err := a.Health(); !errors.As(err, &setup) {
			w.Errorf("it says %v", err)
		}
		heal()
		healPlain()
		w.within(round, "well again", func() bool { return a.Health() == nil })
		a.stop()
		if a.Health() == nil {
			w.Error("healthy after it has stopped")
		}
	})
}

// One whose leases are not renewed is unwell, though its session is.
func TestHealthPerLease(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a := w.start("a", 2, inMode(coordinator.PerLease))
		w.settle(2, a)
		a.path.Every("TransactWriteItems", dynamotest.Throttle())
		w.within(ttl, "unwell", func() bool { return a.Health() != nil })
		if n := w.busy(); n != 2 {
			w.Errorf("%d partitions are worked", n)
		}
	})
}

// A heartbeat that finds the session lost has gone wrong, though another session is open at once.
func TestHooksSessionLost(t *testing.T) {
	inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
		w.lenient = true
		var told []error
		a := w.start("a", 2, inMode(mode), hooked(coordinator.Hooks{Renewed: func(_ time.Duration, err error) {
			if err != nil {
				told = append(told, err)
			}
		}}))
		w.settle(2, a)
		w.deleteSession(a.State().Session)
		w.within(2*round+grace, "worked again", func() bool { return w.balanced(2, a) && a.State().Alive && a.Health() == nil })
		time.Sleep(2 * round)
		a.stop()
		if len(told) != 1 || !errors.Is(told[0], dynamolease.ErrSessionLost) {
			w.Errorf("told %v", told)
		}
	})
}

// What a graceful stop cuts short has not gone wrong.
func TestHooksStopInHeartbeat(t *testing.T) {
	inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
		h := new(recorder)
		a := w.start("a", 2, inMode(mode), hooked(h.hooks()))
		w.settle(2, a)
		beating := make(chan struct{})
		a.path.Next("UpdateItem", dynamotest.All(dynamotest.Around(func() { close(beating) }, nil), dynamotest.Delay(time.Second)))
		<-beating
		a.cancel()
		<-a.over
		if h.fails != 0 {
			w.Errorf("%d heartbeats failed", h.fails)
		}
	})
}

// Why a handler's context has ended is told as the handler was told, also when the node stops
// right after.
func TestHooksCause(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		h := new(recorder)
		a := w.start("a", 1, inMode(coordinator.PerLease), hooked(h.hooks()), handling(func(ctx context.Context, lease coordinator.Assignment) error {
			<-ctx.Done()
			time.Sleep(time.Second)
			return nil
		}))
		w.lenient = true
		w.settle(1, a)
		a.path.Every("", dynamotest.Hang())
		w.within(2*ttl, "lost", func() bool { return w.history(0)[0].cause != nil })
		a.cancel()
		<-a.over
		if got := h.take(); len(got) != 2 || !strings.HasPrefix(got[1], fmt.Sprintf("lost 0: %v", coordinator.ErrLost)) {
			w.Errorf("told %s", got)
		}
	})
}

// A node whose rounds are as long as they may be is well between two of them.
func TestHealthLongInterval(t *testing.T) {
	inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
		long := func(c *coordinator.Config) { c.Interval = ttl * 49 / 100 }
		a := w.start("a", 2, inMode(mode), long)
		w.settle(2, a)
		w.always(10*ttl, "healthy", func() bool { return a.Health() == nil })
		a.path.Every("UpdateItem", dynamotest.Throttle())
		a.path.Every("TransactWriteItems", dynamotest.Throttle())
		w.within(ttl, "unwell", func() bool { return a.Health() != nil })
		if n := w.busy(); n != 2 {
			w.Errorf("%d partitions are worked", n)
		}
	})
}
