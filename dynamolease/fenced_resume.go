package dynamolease

import (
	"context"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// Resume returns the lease with its checkpoint as it is now, to go on after an error of
// [Store.Transact] or [Store.Checkpoint]. If the outcome of that was unknown, it is settled then:
// either it was applied and shows in the checkpoint, or it cannot be applied any more. What is left
// of the lease is as before.
//
// It costs a read, and a write where an outcome is unknown. The error is a [FencedError] when the
// lease was taken or released. Other errors: [ArgumentError], [RowError], [SetupError], the
// context's, or the SDK's, after retries for at most 10 seconds: call again.
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
