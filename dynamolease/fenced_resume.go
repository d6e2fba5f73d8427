package dynamolease

import (
	"context"
	"errors"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// Resume returns the lease with its checkpoint as it is now, to go on after an error of
// [Store.Transact] or [Store.Checkpoint]. Nothing that was written under the lease before, by this
// process or by another one of its owner, can be applied any more: it either shows in the
// checkpoint, or never will. What is left of the lease is as before.
//
// Use the lease that it returns from then on: work under the old one is refused with
// [ErrEarlierApplied].
//
// It costs a read and a write. The error is a [FencedError] when the lease was taken or released.
// Other errors: [ArgumentError], [RowError], [SetupError], the context's, or the SDK's, after retries
// for at most 10 seconds: call again.
func (s *Store) Resume(ctx context.Context, lease Lease) (Lease, error) {
	if err := checkOwn(lease); err != nil {
		return Lease{}, s.explain(err, "resume")
	}
	k := leaseKey(lease.Group, lease.Partition)
	resumed, err := s.resume(ctx, lease, k)
	return resumed, s.explain(err, "resume %s/%d", lease.Group, lease.Partition)
}

// resume leaves a work of its own on top of what stands, so that whatever is on its way is refused.
func (s *Store) resume(ctx context.Context, lease Lease, k rowstore.Key) (Lease, error) {
	unlock, err := s.working.Lock(ctx, k)
	if err != nil {
		return Lease{}, err
	}
	defer unlock()
	budget := s.rows.Budget(0)
	for {
		item, _, err := s.rows.Get(ctx, k, budget, s.rows.Timeout(0))
		if err != nil {
			return Lease{}, err
		}
		row, err := decodeFenced(item)
		if err != nil {
			return Lease{}, err
		}
		if !lease.covers(row) {
			return Lease{}, lease.fenced(row)
		}
		w := s.newWork(lease, k, []string{row.work})
		w.budget = budget
		switch err := w.run(ctx); {
		case err == nil:
			row.work = w.id
			s.noteWork(k, row, true)
			resumed := row.lease()
			resumed.ExpiresAt, resumed.validity = lease.ExpiresAt, lease.validity
			resumed.progress = s.works.resumed(k, row.holder, row.epoch, row.work)
			return resumed, nil
		case !errors.Is(err, ErrEarlierApplied): // else something has landed in between
			return Lease{}, err
		}
		if err := budget.Again(ctx, ErrEarlierApplied); err != nil {
			return Lease{}, err
		}
	}
}

// noteWork notes in the cache what work under a lease has left there, so that the next renewal knows
// whether there is a checkpoint.
func (s *Store) noteWork(k rowstore.Key, now leaseRow, checkpoint bool) {
	s.leases.Amend(k, func(row leaseRow) leaseRow {
		if row.holder == now.holder && row.epoch == now.epoch {
			row.work = now.work
			if checkpoint {
				row.checkpoint = now.checkpoint
			}
		}
		return row
	})
}
