package coordinator

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// Hooks are told what a coordinator does, for metrics; each may be nil. They are called one at a time, in order, from a
// goroutine of their own, so that a slow one delays nothing: what 1,000 calls behind it have no room for is left out, and logged.
// After Run has returned none is called: it has left the service before, and then waits for the calls that are left, so a hook
// must not wait for Run, or for ever. A hook that panics is logged.
type Hooks struct {
	// Round is told what [Coordinator.State] is after each round.
	Round func(State)

	// Gained is told when a handler starts to work a partition.
	Gained func(dynamolease.Lease)

	// Lost is told when the context of a handler ends. The cause is [ErrRevoked], [ErrShutdown] or [ErrLost].
	Lost func(lease dynamolease.Lease, cause error)

	// Renewed is told how long each heartbeat took, with the renewals of leases with an expiry of their own, and what went
	// wrong with it; nil for nothing.
	Renewed func(took time.Duration, err error)
}

func (h Hooks) any() bool {
	return h.Round != nil || h.Gained != nil || h.Lost != nil || h.Renewed != nil
}

const hooksBehind = 1000

// A hooks is the queue of the calls.
type hooks struct {
	calls  chan func() // nil where there are no hooks
	missed atomic.Int64
	logger *slog.Logger

	mu   sync.Mutex
	over bool // a handler that outlives Run has nobody to tell
}

func newHooks(cfg Config) *hooks {
	h := &hooks{logger: cfg.Logger}
	if cfg.Hooks.any() {
		h.calls = make(chan func(), hooksBehind)
	}
	return h
}

// tell queues a call. It waits for nothing.
func (h *hooks) tell(call func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.calls == nil || h.over {
		return
	}
	select {
	case h.calls <- call:
	default:
		h.missed.Add(1)
	}
}

// run makes the calls, until it is told to stop: then it makes those that are left, and returns.
func (h *hooks) run() (stop func()) {
	if h.calls == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for call := range h.calls {
			h.call(call)
		}
	}()
	return func() {
		h.mu.Lock()
		h.over = true
		close(h.calls)
		h.mu.Unlock()
		<-done
	}
}

func (h *hooks) call(call func()) {
	defer func() {
		if r := recover(); r != nil {
			h.logger.Error("dynamolease: a hook panicked", "err", fmt.Errorf("panic: %v", r))
		}
	}()
	if missed := h.missed.Swap(0); missed > 0 {
		h.logger.Warn("dynamolease: hooks are too slow, calls were left out", "calls", missed)
	}
	call()
}

func (c *Coordinator) gained(lease dynamolease.Lease) {
	if c.cfg.Hooks.Gained != nil {
		c.hooks.tell(func() { c.cfg.Hooks.Gained(lease) })
	}
}

func (c *Coordinator) lost(lease dynamolease.Lease, cause error) {
	if c.cfg.Hooks.Lost != nil {
		c.hooks.tell(func() { c.cfg.Hooks.Lost(lease, cause) })
	}
}

func (c *Coordinator) renewed(took time.Duration, err error) {
	if c.cfg.Hooks.Renewed != nil {
		c.hooks.tell(func() { c.cfg.Hooks.Renewed(took, err) })
	}
}
