package dynamolease

import (
	"context"
	"fmt"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// Release frees the live lease that owner holds on a partition, so that another node can acquire it
// at once. It reports whether there was one. It is false when another owner holds the partition,
// when the lease has expired, or when there is nothing to release. The row and its epoch stay. Stop
// the work that the lease covers before.
//
// If the answer to a call was lost, a call again also reports that the lease was released, even if
// another owner has acquired the partition since.
//
// The error wraps [ErrUnknownOutcome] when it is unknown whether the lease was released. Other
// errors: [ArgumentError], [RowError], [SetupError], the context's, or the SDK's, after retries for
// at most 10 seconds.
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
	key    rowstore.Key
	holder holder
	live   func(leaseRow, rowstore.Moment) bool // the holder's lease has not run out

	// held is the live lease that an attempt was made on; empty before. A lease that the holder has
	// acquired since is another one.
	held leaseRow
	last rowstore.Moment // of the latest look at the row
}

func (r *release) run(ctx context.Context) (bool, error) {
	done, err := rowstore.Change[leaseRow]{
		Key: r.key, Cache: r.store.leases, Decode: decodeLease, By: r.holder, Propose: r.propose,
		Start: func(seen rowstore.Known[leaseRow], at rowstore.Moment) bool {
			return seen.Row.holder == r.holder && r.live(seen.Row, at)
		},
		Hidden: func(row leaseRow) bool {
			return r.held.rev != "" && (row.holder != r.holder || row.epoch != r.held.epoch)
		},
	}.Do(ctx, r.store.rows)
	if err != nil {
		return false, err
	}
	r.store.leases.Forget(r.key, done.Known.Row)
	r.store.works.over(r.key, r.holder)
	switch row := done.Known.Row; {
	case done.Applied != nil:
		return r.held.rev != "", nil
	case r.held.rev == "":
		return false, nil
	case len(done.Doubted) == 0 && row.rev != "" && row.epoch == r.held.epoch:
		return false, nil // nobody else has had it since: another call of this owner has released it
	case r.live(r.held, r.last.LatestAsEarliest()):
		// Somebody else has written since, and our lease has not run out even now: an attempt has freed
		// it. Either it was not answered, or it was delivered twice and refused the second time.
		return true, nil
	case len(done.Doubted) == 0:
		return false, nil
	default:
		return false, fmt.Errorf("%w: somebody else has the partition, and nothing tells whether it was released before it expired", ErrUnknownOutcome)
	}
}

// propose frees the holder's live lease. If an acquisition of this store was never answered and may
// be applied yet, it writes the row in any case: with a new rev that acquisition cannot come back
// after the release.
func (r *release) propose(seen rowstore.Known[leaseRow], at rowstore.Moment) (rowstore.Proposal[leaseRow], error) {
	row := seen.Row
	r.last = at
	if row.holder == r.holder && (row.epoch == r.held.epoch || r.held.rev == "" && r.live(row, at)) {
		r.held = row
		return rowstore.Write(row.freed(at, r.store.retention)), nil
	}
	switch {
	case row.holder == r.holder && row.inSession():
		// The session is over for this process, and perhaps not yet for others.
		return rowstore.Write(row.freed(at, r.store.retention)), nil
	case !seen.PendingBy(r.holder):
		return rowstore.Proposal[leaseRow]{}, nil
	case row.rev == "":
		row = leaseRow{key: r.key, epoch: r.store.firstEpoch(at)}.freed(at, r.store.retention)
	}
	return rowstore.Write(row), nil
}
