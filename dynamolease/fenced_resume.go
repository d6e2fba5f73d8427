package dynamolease

import (
	"context"
	"fmt"
	"sync"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// Resume returns the lease with its checkpoint as it is now, to go on after an error of
// [Store.Transact] or [Store.Checkpoint]. If the outcome of that was unknown, it is settled then:
// either it was applied and shows in the checkpoint, or it cannot be applied any more. What is left of
// the lease is as before.
//
// It costs a read, and a write where an outcome is unknown. The error is a [FencedError] when the
// lease was taken or released. Other errors: [ArgumentError], [RowError], [SetupError], the context's,
// or the SDK's, after retries for at most 10 seconds: call again.
func (s *Store) Resume(ctx context.Context, lease Lease) (Lease, error) {
	if err := checkOwn(lease); err != nil {
		return Lease{}, s.explain(err, "resume")
	}
	k := leaseKey(lease.Group, lease.Partition)
	resumed, err := s.resume(ctx, lease, k)
	return resumed, s.explain(err, "resume %s/%d", lease.Group, lease.Partition)
}

func (s *Store) resume(ctx context.Context, lease Lease, k rowstore.Key) (Lease, error) {
	unlock, err := s.working.Lock(ctx, k)
	if err != nil {
		return Lease{}, err
	}
	defer unlock()
	w := &fencedWork{store: s, lease: lease, key: k, budget: s.rows.Budget(0)}
	if _, err := w.settleEarlier(ctx); err != nil {
		return Lease{}, err
	}
	if err := w.read(ctx); err != nil {
		return Lease{}, err
	}
	if !lease.covers(w.row) {
		return Lease{}, lease.fenced(w.row)
	}
	resumed := w.row.lease()
	resumed.ExpiresAt, resumed.validity = lease.ExpiresAt, lease.validity
	return resumed, nil
}

// settleEarlier finds out what became of earlier work of this store under the lease, where that is
// not known, and bars what has not been applied. It reports whether it was applied.
func (w *fencedWork) settleEarlier(ctx context.Context) (applied bool, err error) {
	earlier, ok := w.store.pending.of(w.key)
	if !ok {
		return false, nil
	}
	e := &fencedWork{store: w.store, lease: w.lease, key: w.key, budget: w.budget, before: earlier.before, attempts: earlier.attempts}
	if _, err := e.bar(ctx); err != nil {
		return false, fmt.Errorf("find out what became of earlier work under the lease: %w", err)
	}
	w.store.pending.clear(w.key)
	w.store.leases.Forget(w.key)
	return e.done, nil
}

// A pendingWork is fenced work that ended without knowing whether it was applied.
type pendingWork struct {
	before   string   // the row's work before it
	attempts []string // the work that its attempts would have left
}

// A pendingWorks is the pending work of a store, by the lease's key.
type pendingWorks struct {
	mu   sync.Mutex
	open map[rowstore.Key]pendingWork
}

func (p *pendingWorks) note(k rowstore.Key, work pendingWork) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[k] = work
}

func (p *pendingWorks) of(k rowstore.Key) (pendingWork, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	found, ok := p.open[k]
	return found, ok
}

func (p *pendingWorks) clear(k rowstore.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, k)
}
