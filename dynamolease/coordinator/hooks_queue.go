package coordinator

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

const hooksBehind = 1000

// A hookQueue calls hooks from a goroutine of its own.
type hookQueue struct {
	hooks  Hooks
	calls  chan func() // nil where there are no hooks
	missed atomic.Int64
	logger *slog.Logger

	mu   sync.Mutex
	over bool // Run has returned: a handler that outlives it queues nothing
}

func newHookQueue(h Hooks, logger *slog.Logger) *hookQueue {
	q := &hookQueue{hooks: h, logger: logger}
	if h.any() {
		q.calls = make(chan func(), hooksBehind)
	}
	return q
}

func (q *hookQueue) round(state func() State) {
	if q.hooks.Round != nil {
		s := state()
		q.add(func() { q.hooks.Round(s) })
	}
}

func (q *hookQueue) gained(lease dynamolease.Lease) {
	if q.hooks.Gained != nil {
		q.add(func() { q.hooks.Gained(lease) })
	}
}

func (q *hookQueue) lost(lease dynamolease.Lease, cause error) {
	if q.hooks.Lost != nil {
		q.add(func() { q.hooks.Lost(lease, cause) })
	}
}

func (q *hookQueue) renewed(took time.Duration, err error) {
	if q.hooks.Renewed != nil {
		q.add(func() { q.hooks.Renewed(took, err) })
	}
}

// add queues a call. It waits for nothing.
func (q *hookQueue) add(call func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.calls == nil || q.over {
		return
	}
	select {
	case q.calls <- call:
	default:
		q.missed.Add(1)
	}
}

// run makes the calls until stop is called, which makes those that are left and returns.
func (q *hookQueue) run() (stop func()) {
	if q.calls == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for call := range q.calls {
			q.call(call)
		}
	}()
	return func() {
		q.mu.Lock()
		q.over = true
		close(q.calls)
		q.mu.Unlock()
		<-done
	}
}

func (q *hookQueue) call(call func()) {
	defer func() {
		if r := recover(); r != nil {
			q.logger.Error("dynamolease: a hook panicked", "err", fmt.Errorf("panic: %v", r))
		}
	}()
	if missed := q.missed.Swap(0); missed > 0 {
		q.logger.Warn("dynamolease: hooks are too slow, calls were left out", "calls", missed)
	}
	call()
}
