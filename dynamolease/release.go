package dynamolease

import (
	"context"
	"fmt"
)

// Release frees the live lease that owner holds on a partition, so that another node can acquire it at once. It reports
// whether there was one: not when another owner holds it, when it expired, or when there is nothing to release. The row
// and its epoch stay. Stop the work that the lease covers before. A call again, after one whose answer was lost, says that the
// lease was released, too, also when another has acquired the partition since.
//
// The error wraps [ErrUnknownOutcome] when nothing tells whether the lease was released. Other errors: [ArgumentError],
// [RowError], [SetupError], the context's, or the SDK's, after retries for at most 10 seconds.
func (s *Store) Release(ctx context.Context, group string, partition int, owner string) (released bool, err error) {
	if err := checkLease(group, partition, owner); err != nil {
		return false, s.explain(err, "release")
	}
	r := &release{store: s, key: leaseKey(group, partition), holder: holder{owner: owner}, live: leaseRow.unexpired}
	released, err = r.run(ctx)
	return released, s.explain(err, "release %s/%d", group, partition)
}

// A release is one attempt of a holder to give a lease up.
type release struct {
	store  *Store
	key    key
	holder holder
	live   func(leaseRow, moment) bool // the holder's lease has not run out

	held leaseRow // the live lease that an attempt was made on; empty before. One that the holder has acquired since is another
	last moment   // of the latest look at the row
}

func (r *release) run(ctx context.Context) (bool, error) {
	done, err := settle(ctx, r.store, change[leaseRow]{
		key: r.key, rows: r.store.leases, decode: decodeLease, by: r.holder, propose: r.propose,
		start: func(seen sighting[leaseRow], at moment) bool {
			return seen.row.holder == r.holder && r.live(seen.row, at)
		},
	})
	if err != nil {
		return false, err
	}
	r.store.leases.forget(r.key)
	switch {
	case done.applied != nil:
		return r.held.rev != "", nil
	case r.held.rev == "":
		return false, nil
	case len(done.doubted) == 0 && done.seen.row.rev != "" && done.seen.row.epoch == r.held.epoch:
		return false, nil // nobody else has had it since: another call of this owner has released it
	case r.live(r.held, r.last.latestAsEarliest()):
		// Somebody else has written since, and our lease has not run out even now: an attempt has freed it, whether it
		// was not answered or was delivered twice and refused the second time.
		return true, nil
	case len(done.doubted) == 0:
		return false, nil
	default:
		return false, fmt.Errorf("%w: somebody else has the partition, and nothing tells whether it was released before it expired", ErrUnknownOutcome)
	}
}

// propose frees the holder's live lease. Where an acquisition of this store was never answered and may be applied yet,
// it writes the row in any case: with a new rev that acquisition cannot come back after the release.
func (r *release) propose(seen sighting[leaseRow], at moment) (proposal[leaseRow], error) {
	row := seen.row
	r.last = at
	if row.holder == r.holder && (row.epoch == r.held.epoch || r.held.rev == "" && r.live(row, at)) {
		r.held = row
		return proposal[leaseRow]{action: write, next: row.freed(at, r.store.retention)}, nil
	}
	if !seen.doubtful(r.holder) {
		return proposal[leaseRow]{action: leave, next: row}, nil
	}
	if row.rev == "" {
		row = leaseRow{key: r.key, epoch: r.store.firstEpoch(at)}.freed(at, r.store.retention)
	}
	return proposal[leaseRow]{action: write, next: row}, nil
}
