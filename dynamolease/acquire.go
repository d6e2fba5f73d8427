package dynamolease

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/internal/request"
)

// Acquire acquires a partition of a group for owner for ttl (1 s to a year), if it is free, released or surely expired;
// if owner holds it live already, it is extended to at least ttl from now and keeps its epoch. The lease is then the
// caller's, and acquired is true. If another owner holds it, acquired is false, and the lease is that owner's.
//
// owner must name one process, and no other process at the same time. A lease that a session holds is another's, also
// under the same name.
//
// It costs one read and, if it writes, one write unit; no read where this store wrote the row last; and four write
// units and a read more to take a lease over from a session that died. Several acquirers of one partition have exactly
// one winner. A call whose answer was lost may be repeated: that returns the same epoch.
//
// The error wraps [ErrUnknownOutcome] when nothing tells whether the lease was acquired. The store then tries to free
// the row in the background; the next Acquire of this owner finds out at once. Other errors: [ArgumentError],
// [RowError], [SetupError], the context's, or the SDK's, after retries for at most half the ttl.
func (s *Store) Acquire(ctx context.Context, group string, partition int, owner string, ttl time.Duration) (lease Lease, acquired bool, err error) {
	if err := firstError(checkLease(group, partition, owner), checkTTL(ttl)); err != nil {
		return Lease{}, false, s.explain(err, "acquire")
	}
	a := &acquisition{store: s, key: leaseKey(group, partition), holder: holder{owner: owner}, ttl: ttl}
	done, err := a.run(ctx)
	if err != nil {
		return Lease{}, false, s.explain(err, "acquire %s/%d", group, partition)
	}
	lease = a.describe(done.seen.row)
	if done.applied != nil {
		lease.tenure = done.applied.at.tenure(ttl, done.seen.row.exp, done.answer)
	}
	return lease, done.applied != nil, nil
}

// An acquisition is one attempt of a holder to get a lease.
type acquisition struct {
	store  *Store
	key    key
	holder holder
	ttl    time.Duration // of the lease, or of the session that is to hold it

	other memberRow // the session's row, where another session has the lease; empty when it is not there

	epoch    int64    // of an acquisition where there was no row
	base     string   // the rev of the row that the latest attempt built on
	taken    leaseRow // what that attempt would have made of it
	extended bool     // an attempt extended a lease that the caller may still believe in
}

// run carries the acquisition through. What it may have acquired without knowing it is given up in the background.
func (a *acquisition) run(ctx context.Context) (settled[leaseRow], error) {
	done, err := settle(ctx, a.store, a.change())
	switch {
	case err != nil && errors.Is(err, ErrUnknownOutcome):
		a.abandon(ctx, done.doubted)
	case err != nil:
	case done.applied != nil:
		a.store.doubts.clear(a.key) // what was on its way is barred by the row's new rev, and shows in the checkpoint
		a.store.leases.keep(a.key, done.seen, done.applied.at)
	case !done.seen.row.heldBy(a.holder):
		a.store.leases.forget(a.key)
	}
	return done, err
}

func (a *acquisition) change() change[leaseRow] {
	return change[leaseRow]{
		key: a.key, rows: a.store.leases, decode: decodeLease, by: a.holder, ttl: a.ttl,
		consult: a.consult, propose: a.propose,
		// Another call of the holder may have extended what an attempt of this one acquired.
		hidden: func(row leaseRow) bool { return row.heldBy(a.holder) },
		// A row of another holder is read again, since it decides the answer; any other leads to a write.
		start: func(seen sighting[leaseRow], at moment) bool {
			return seen.row.holder == a.holder || !seen.row.inSession() && !seen.row.unexpired(at)
		},
	}
}

// consult reads the row of the session that holds the lease.
func (a *acquisition) consult(ctx context.Context, row leaseRow, budget *request.Budget, timeout time.Duration) error {
	a.other = memberRow{}
	if !row.inSession() || row.holder == a.holder {
		return nil
	}
	found, _, err := a.store.get(ctx, row.session, budget, timeout)
	if err != nil || len(found) == 0 {
		return err
	}
	a.other, err = decodeMember(found)
	return err
}

// live tells whether the holder of the row may still be there.
func (a *acquisition) live(row leaseRow, at moment) bool {
	if row.inSession() {
		return row.holder == a.holder || a.other.live(at)
	}
	return row.unexpired(at)
}

func (a *acquisition) propose(seen sighting[leaseRow], at moment) (proposal[leaseRow], error) {
	row := seen.row
	live, mine := a.live(row, at), row.holder == a.holder
	if live && (!mine || row.revoked || a.settled(row)) {
		return proposal[leaseRow]{action: leave, next: row}, nil
	}
	p := proposal[leaseRow]{action: write}
	if row.inSession() && !mine {
		p.check = &condition{row.session, []string{a.other.rev}}
	}
	if row.rev == "" {
		// All attempts of one acquisition are to have one epoch.
		if a.epoch == 0 {
			a.epoch = a.store.firstEpoch(at)
		}
		row.key, row.epoch = a.key, a.epoch
	}
	next, err := row.acquired(a.holder, live, a.ttl, at, a.store.retention)
	a.base, a.taken = seen.row.rev, next
	a.extended = a.extended || live
	p.next = next
	return p, err
}

// settled tells whether one's own session holds the lease and this store knows it, so that there is nothing to extend. A
// lease that it does not know, from an acquisition that was never answered, is written again: otherwise what that one
// does in the background could free it afterwards.
func (a *acquisition) settled(row leaseRow) bool {
	known, ok := a.store.leases.recall(a.key)
	return row.inSession() && ok && known.row.rev == row.rev && len(known.unanswered) == 0
}

// describe is the lease that a row is about. Of another holder's session it shows the expiry, too.
func (a *acquisition) describe(row leaseRow) Lease {
	lease := row.lease()
	if a.other.rev != "" && a.other.key == row.session {
		lease.ExpiresAt = time.UnixMilli(a.other.exp).UTC()
	}
	return lease
}

// abandon gives up, in the background, what the attempts may have acquired or may acquire yet: otherwise nobody would
// work the partition for a whole ttl. An extension is left alone, since the caller may count on the lease that it has.
func (a *acquisition) abandon(ctx context.Context, unanswered []string) {
	if a.extended {
		return
	}
	a.store.background.run(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(a.ttl, patience))
		defer cancel()
		if err := a.undo(ctx, unanswered); err != nil {
			a.store.logger.WarnContext(ctx, "dynamolease: an abandoned acquisition stays until it expires",
				"group", a.key.pk[len(leasePrefix):], "key", a.key.sk, "owner", a.holder.owner, "err", err)
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
				return proposal[leaseRow]{action: write, next: row.freed(at, a.store.retention)}, nil
			case row.rev != a.base:
				return proposal[leaseRow]{action: leave, next: row}, nil
			case row.rev == "":
				return proposal[leaseRow]{action: write, next: a.taken.freed(at, a.store.retention)}, nil
			default:
				return proposal[leaseRow]{action: write, next: row}, nil
			}
		},
	})
	return err
}
