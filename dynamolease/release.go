package dynamolease

import (
	"context"
	"fmt"
)

// Release frees the live lease that owner holds on a partition, so that another node can acquire it at once. It reports
// whether there was one: not when another owner holds it, when it expired, or when there is nothing to release. The row
// and its epoch stay. Stop the work that the lease covers before.
//
// The error wraps [ErrUnknownOutcome] when nothing tells whether the lease was released. Other errors: [ArgumentError],
// [RowError], [SetupError], the context's, or the SDK's, after retries for at most 10 seconds.
func (s *Store) Release(ctx context.Context, group string, partition int, owner string) (released bool, err error) {
	if err := checkLease(group, partition, owner); err != nil {
		return false, s.explain(err, "release")
	}
	r := &release{store: s, key: leaseKey(group, partition), owner: owner}
	done, err := settle(ctx, s, r.change())
	if err != nil {
		return false, s.explain(err, "release %s/%d", group, partition)
	}
	s.leases.forget(r.key)
	if done.applied != nil {
		return r.held, nil
	}
	return r.outcome()
}

// A release is one call of Release.
type release struct {
	store *Store
	key   key
	owner string
	held  bool   // an attempt was made on a live lease of the owner
	last  moment // of the latest look at the row
	exp   int64  // of the lease that the attempts were made on
}

func (r *release) change() change[leaseRow] {
	return change[leaseRow]{
		key: r.key, rows: r.store.leases, decode: decodeLease, propose: r.propose,
		start: func(seen sighting[leaseRow], at moment) bool { return seen.row.owner == r.owner && seen.row.live(at) },
	}
}

// propose frees the owner's live lease. Where an acquisition of this store was never answered and may be applied yet,
// it writes the row in any case: with a new rev that acquisition cannot come back after the release.
func (r *release) propose(seen sighting[leaseRow], at moment) (proposal[leaseRow], error) {
	row := seen.row
	r.last = at
	if row.owner == r.owner && (r.held || row.live(at)) {
		r.held, r.exp = true, row.exp
		return proposal[leaseRow]{write, row.freed(at, r.store.retention)}, nil
	}
	if len(seen.unanswered) == 0 {
		return proposal[leaseRow]{leave, row}, nil
	}
	if row.rev == "" {
		row = leaseRow{key: r.key, epoch: at.latest()}.freed(at, r.store.retention)
	}
	return proposal[leaseRow]{write, row}, nil
}

// outcome answers when the last look found nothing to release. If an attempt before was refused, somebody else has
// written since: a lease of ours that had not expired by then can only have been freed by one of our own attempts.
func (r *release) outcome() (bool, error) {
	if !r.held {
		return false, nil
	}
	if r.last.latest() < r.exp {
		return true, nil
	}
	return false, fmt.Errorf("%w: another owner has the partition, and nothing tells whether it was released before it expired", ErrUnknownOutcome)
}
