package coordinator

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/internal/aside"
)

// hooksBehind is how many calls of hooks wait at the most: what a node makes that takes as many
// partitions at once.
const hooksBehind = 10_000

// A hookQueue calls hooks beside what they tell of. Without a hook, it queues nothing.
type hookQueue struct {
	hooks Hooks
	calls *aside.Queue
}

func newHookQueue(h Hooks, logger *slog.Logger) *hookQueue {
	return &hookQueue{h, aside.New(hooksBehind,
		func(missed int64) {
			logger.Warn("dynamolease: hooks are too slow, calls were left out", "calls", missed)
		},
		func(value any) {
			logger.Error("dynamolease: a hook panicked", "err", fmt.Errorf("panic: %v", value))
		},
	)}
}

func (q *hookQueue) round(state func() State) {
	if q.hooks.Round != nil {
		s := state()
		q.calls.Add(func() { q.hooks.Round(s) })
	}
}

func (q *hookQueue) gained(lease dynamolease.Lease) {
	if q.hooks.Gained != nil {
		q.calls.Add(func() { q.hooks.Gained(lease) })
	}
}

func (q *hookQueue) lost(lease dynamolease.Lease, cause error) {
	if q.hooks.Lost != nil {
		q.calls.Add(func() { q.hooks.Lost(lease, cause) })
	}
}

func (q *hookQueue) failed(lease dynamolease.Lease, failures int, err error) {
	if q.hooks.Failed != nil {
		q.calls.Add(func() { q.hooks.Failed(lease, failures, err) })
	}
}

func (q *hookQueue) stuck(lease dynamolease.Lease, since time.Time) {
	if q.hooks.Stuck != nil {
		q.calls.Add(func() { q.hooks.Stuck(lease, since) })
	}
}

func (q *hookQueue) renewed(took time.Duration, err error) {
	if q.hooks.Renewed != nil {
		q.calls.Add(func() { q.hooks.Renewed(took, err) })
	}
}
