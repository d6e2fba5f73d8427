package dynamolease

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Acquire acquires a partition of a group for owner for ttl (1 s to a year), if it is free, released or surely expired;
// if owner holds it live already, it is extended to at least ttl from now and keeps its epoch. The lease is then the
// caller's, and acquired is true. If another owner holds it, acquired is false, and the lease is that owner's.
//
// owner must name one process, and no other process at the same time.
//
// It costs one read and, if it writes, one write unit; no read where this store wrote the row last. Several acquirers
// of one partition have exactly one winner. A call whose answer was lost may be repeated: that returns the same epoch.
//
// The error wraps [ErrUnknownOutcome] when nothing tells whether the lease was acquired. The store then tries to free
// the row in the background; the next Acquire of this owner finds out at once. Other errors: [ArgumentError],
// [RowError], [SetupError], the context's, or the SDK's, after retries for at most half the ttl.
func (s *Store) Acquire(ctx context.Context, group string, partition int, owner string, ttl time.Duration) (lease Lease, acquired bool, err error) {
	if err := firstError(checkLease(group, partition, owner), checkTTL(ttl)); err != nil {
		return Lease{}, false, s.explain(err, "acquire")
	}
	a := &acquisition{store: s, key: leaseKey(group, partition), owner: owner, ttl: ttl}
	done, err := settle(ctx, s, a.change())
	if err != nil {
		if errors.Is(err, ErrUnknownOutcome) {
			a.abandon(ctx)
		}
		return Lease{}, false, s.explain(err, "acquire %s/%d", group, partition)
	}
	lease = done.seen.row.lease()
	if done.applied == nil {
		s.leases.forget(a.key)
		return lease, false, nil
	}
	lease.tenure = done.applied.at.tenure(ttl, done.seen.row.exp, done.answer)
	s.leases.keep(a.key, done.seen, done.applied.at)
	return lease, true, nil
}

// An acquisition is one call of Acquire.
type acquisition struct {
	store *Store
	key   key
	owner string
	ttl   time.Duration

	base     string   // the rev of the row that the latest attempt built on
	taken    leaseRow // what that attempt would have made of it
	extended bool     // an attempt extended a lease that the caller may still believe in
}

func (a *acquisition) change() change[leaseRow] {
	return change[leaseRow]{
		key: a.key, rows: a.store.leases, decode: decodeLease, ttl: a.ttl,
		propose: a.propose,
		// A row of another owner is read again, since it decides the answer; any other leads to a write.
		start: func(seen sighting[leaseRow], at moment) bool { return !a.heldByAnother(seen.row, at) },
	}
}

func (a *acquisition) heldByAnother(row leaseRow, at moment) bool {
	return row.owner != a.owner && row.live(at)
}

func (a *acquisition) propose(seen sighting[leaseRow], at moment) (proposal[leaseRow], error) {
	if a.heldByAnother(seen.row, at) {
		return proposal[leaseRow]{leave, seen.row}, nil
	}
	row := seen.row
	row.key = a.key
	next, err := row.acquired(a.owner, a.ttl, at, a.store.retention)
	a.base, a.taken = seen.row.rev, next
	a.extended = a.extended || next.epoch == seen.row.epoch && seen.row.rev != ""
	return proposal[leaseRow]{write, next}, err
}

// abandon gives up, in the background, what the attempts may have acquired or may acquire yet: otherwise nobody would
// work the partition for a whole ttl. An extension is left alone, since the caller may count on the lease that it has.
func (a *acquisition) abandon(ctx context.Context) {
	seen, ok := a.store.leases.recall(a.key)
	if !ok || a.extended {
		return
	}
	unanswered := slices.Clone(seen.unanswered)
	a.store.background.run(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(a.ttl, patience))
		defer cancel()
		if err := a.undo(ctx, unanswered); err != nil {
			a.store.logger.WarnContext(ctx, "dynamolease: an abandoned acquisition stays until it expires",
				"group", a.key.pk[len(leasePrefix):], "key", a.key.sk, "owner", a.owner, "err", err)
		}
	})
}

// undo frees the row if one of the unanswered attempts was applied, and otherwise changes nothing but the row's rev, so
// that an attempt that is still on its way cannot be applied any more. A row that anybody else has written since, the
// next call of this owner included, is left as it is.
func (a *acquisition) undo(ctx context.Context, unanswered []string) error {
	_, err := settle(ctx, a.store, change[leaseRow]{
		key: a.key, rows: newMemory(func(leaseRow, int64) bool { return false }), decode: decodeLease, ttl: a.ttl,
		start: func(sighting[leaseRow], moment) bool { return false },
		propose: func(seen sighting[leaseRow], at moment) (proposal[leaseRow], error) {
			row := seen.row
			switch {
			case slices.Contains(unanswered, row.rev):
				return proposal[leaseRow]{write, row.freed(at, a.store.retention)}, nil
			case row.rev != a.base:
				return proposal[leaseRow]{leave, row}, nil
			case row.rev == "":
				return proposal[leaseRow]{write, a.taken.freed(at, a.store.retention)}, nil
			default:
				return proposal[leaseRow]{write, row}, nil
			}
		},
	})
	return err
}
