package dynamolease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/internal/elapsed"
	"github.com/dynamolease/dynamolease/internal/request"
	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// Acquire acquires a partition of a group for owner for ttl (1 s to a year), if it is free,
// released or surely expired. If owner holds it live already, it is extended to at least ttl from
// now and keeps its epoch. The lease is then the caller's, and acquired is true. If another owner
// holds it, acquired is false, and the lease is that owner's.
//
// owner must name one process, and no other process at the same time. A lease that a session holds
// is another's, also under the same name.
//
// It costs one read and, if it writes, one write unit; no read where this store wrote the row last.
// The first takeover from a session that died costs a read and a write unit more: it marks the
// session as over. Several callers that acquire one partition have exactly one winner. A call whose
// answer was lost may be repeated: that returns the same epoch.
//
// The error wraps [ErrUnknownOutcome] when it is unknown whether the lease was acquired. The store
// then tries to free the row in the background; the next Acquire of this owner finds out at once.
// An answer that comes when nothing is left of the lease is an error, too, and the store then frees
// the row in the same way. Other errors: [ArgumentError], [RowError], [SetupError], the context's,
// or the SDK's, after retries for at most half the ttl.
func (s *Store) Acquire(ctx context.Context, group string, partition int, owner string, ttl time.Duration) (lease Lease, acquired bool, err error) {
	if err := firstError(checkLease(group, partition, owner), checkTTL(ttl)); err != nil {
		return Lease{}, false, s.explain(err, "acquire")
	}
	a := &acquisition{store: s, key: leaseKey(group, partition), holder: holder{owner: owner}, ttl: ttl}
	return s.acquire(ctx, a, group, partition)
}

// acquire carries out the acquisition of a lease with an expiry of its own.
func (s *Store) acquire(ctx context.Context, a *acquisition, group string, partition int) (lease Lease, acquired bool, err error) {
	done, err := a.run(ctx)
	if err != nil {
		return Lease{}, false, s.explain(err, "acquire %s/%d", group, partition)
	}
	lease = a.describe(done.Known.Row)
	if done.Applied != nil {
		lease.validity = newValidity(s.rows.Time, done.Applied.At, a.ttl, done.Known.Row.exp, done.Answer)
		lease.progress = s.works.acquired(a.key, a.holder, lease.Epoch, done.Known.Row.work)
		if lease.Remaining() == 0 {
			a.store.leases.Forget(a.key, done.Known.Row)
			a.abandon(ctx, []string{done.Known.Row.rev})
			return Lease{}, false, s.explain(errNothingLeft, "acquire %s/%d", group, partition)
		}
	}
	return lease, done.Applied != nil, nil
}

// errNothingLeft is the error of an acquisition whose answer came too late, because the process was
// paused: nobody may count on the lease.
var errNothingLeft = errors.New("acquired, but nothing is left of the lease: the answer came too late")

// errMayCome is the error of an acquisition that found the lease held, although one of its attempts
// may be applied yet.
var errMayCome = errors.New("the lease is held, and an attempt to take it was not answered")

// An acquisition is one attempt of a holder to get a lease.
type acquisition struct {
	store  *Store
	key    rowstore.Key
	holder holder
	ttl    time.Duration // of the lease, or of the session that will hold it
	seen   *leaseRow     // as a look has just found it; nil for none

	other   memberRow       // the session's row, if another session has the lease; empty when it is not there
	renewed bool            // the lease has its own expiry, and another holder was just seen to renew it
	looked  elapsed.Reading // before the row of such a lease was read

	epoch    int64    // of an acquisition where there was no row
	base     string   // the rev of the row that the latest attempt built on
	taken    leaseRow // what that attempt would have made of it
	extended bool     // an attempt extended a lease that the caller may still believe in
}

// run carries the acquisition through. What it may have acquired without knowing is given up in the
// background.
func (a *acquisition) run(ctx context.Context) (rowstore.Changed[leaseRow], error) {
	done, err := a.change().Do(ctx, a.store.rows)
	switch {
	case errors.Is(err, ErrUnknownOutcome):
		a.abandon(ctx, done.Doubted)
	case err != nil:
	case done.Applied == nil && len(done.Doubted) > 0 && done.Known.PendingBy(a.holder):
		// An attempt found the lease expired and was not answered, and by what is known of the time now
		// it has not: the attempt may be applied all the same.
		a.store.leases.Keep(a.key, done.Known, done.Known.Pending[0].At)
		a.abandon(ctx, done.Doubted)
		err = fmt.Errorf("%w: %w", ErrUnknownOutcome, errMayCome)
	case done.Applied != nil:
		a.store.leases.Keep(a.key, done.Known, done.Applied.At)
	case !done.Known.Row.heldBy(a.holder):
		a.store.leases.Forget(a.key, done.Known.Row)
		a.refused(done.Known.Row)
	}
	return done, err
}

// refused notes a row for the next attempt to acquire the lease.
func (a *acquisition) refused(row leaseRow) {
	if row.owner != "" && row.holder != a.holder && !row.inSession() {
		a.store.watch.note(row.watched(), a.looked)
	}
}

func (a *acquisition) change() rowstore.Change[leaseRow] {
	return rowstore.Change[leaseRow]{
		Seen: a.built(),
		Key:  a.key, Cache: a.store.leases, Decode: decodeLease, By: a.holder, TTL: a.ttl,
		Consult: a.consult, Propose: a.propose, Returns: true,
		// Another call of the holder may have extended what an attempt of this one acquired.
		Hidden: func(row leaseRow) bool { return row.heldBy(a.holder) },
		// A row of another holder is read again, since it is judged by the answer that brings it.
		Start: func(seen rowstore.Known[leaseRow], _ rowstore.Moment) bool {
			return seen.Row.holder == a.holder || seen.Row.owner == ""
		},
	}
}

// built returns the row that a look has found, if a write can be built on it without another reading:
// this store has nothing of its own about the row, and nothing in it is judged by the time. It is
// judged by its session, which is read, or is free.
func (a *acquisition) built() *rowstore.Known[leaseRow] {
	if a.seen == nil || a.seen.holder == a.holder || a.seen.owner != "" && !a.seen.inSession() {
		return nil
	}
	if _, ok := a.store.leases.Recall(a.key); ok {
		return nil
	}
	return &rowstore.Known[leaseRow]{Row: *a.seen}
}

// consult looks at another holder of the lease. A session it closes if that is surely dead. That a
// session has no row is a death only because the row is read after the lease's row was: the session
// may have opened since any earlier reading.
func (a *acquisition) consult(
	ctx context.Context, row leaseRow, at rowstore.Moment, budget *request.Budget, timeout time.Duration,
) (err error) {
	a.other, a.renewed = memberRow{}, false
	switch {
	case row.owner == "" || row.holder == a.holder:
	case row.inSession():
		a.other, err = a.store.session(ctx, row.session, at, budget, timeout)
	default:
		a.looked = at.Start
		_, a.renewed = a.store.watch.judge(row.watched(), a.looked)
	}
	return err
}

// live reports whether the holder of the row may still be there. Another session is, until it is
// closed, and so is a holder that was just seen to write the row.
func (a *acquisition) live(row leaseRow, at rowstore.Moment) bool {
	if row.inSession() {
		return row.holder == a.holder || a.other.rev != "" && !a.other.over()
	}
	return a.renewed || row.unexpired(at)
}

func (a *acquisition) propose(seen rowstore.Known[leaseRow], at rowstore.Moment) (rowstore.Proposal[leaseRow], error) {
	row := seen.Row
	live, mine := a.live(row, at), row.holder == a.holder
	if live && (!mine || row.revoked || a.settled(row)) {
		return rowstore.Proposal[leaseRow]{}, nil
	}
	if row.rev == "" {
		// All attempts of one acquisition must have one epoch.
		if a.epoch == 0 {
			a.epoch = a.store.firstEpoch(at)
		}
		row.key, row.epoch = a.key, a.epoch
	}
	next, err := row.acquired(a.holder, live, a.ttl, at, a.store.retention)
	a.base, a.taken = seen.Row.rev, next
	a.extended = a.extended || live
	return rowstore.Write(next), err
}

// settled reports whether one's own session holds the lease and this store knows it, so that there
// is nothing to extend. A lease that it does not know, from an acquisition that was never answered,
// is written again: otherwise the clean-up of that one in the background could free it afterwards.
func (a *acquisition) settled(row leaseRow) bool {
	known, ok := a.store.leases.Recall(a.key)
	return row.inSession() && ok && known.Row.rev == row.rev && len(known.Pending) == 0
}

// describe returns the lease that a row is about. Of another holder's session it shows the expiry,
// too.
func (a *acquisition) describe(row leaseRow) Lease {
	lease := row.lease()
	if a.other.rev != "" && a.other.key == row.session {
		lease.ExpiresAt = time.UnixMilli(a.other.exp).UTC()
	}
	return lease
}

// abandon gives up, in the background, what the attempts may have acquired or may acquire yet:
// otherwise nobody would work the partition for a whole ttl. An extension is left alone, since the
// caller may count on the lease that it has.
func (a *acquisition) abandon(ctx context.Context, doubted []string) {
	if a.extended {
		return
	}
	a.store.background.run(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(a.ttl, rowstore.Patience))
		defer cancel()
		if err := a.undo(ctx, doubted); err != nil {
			a.store.beside.WarnContext(ctx, "dynamolease: an abandoned acquisition stays until it expires",
				"group", a.key.PK[len(leasePrefix):], "key", a.key.SK, "owner", a.holder.owner, "err", err)
		}
	})
}

// undo frees the row if one of the doubted attempts was applied. Otherwise it changes nothing but
// the row's rev, so that an attempt that is still on its way cannot be applied any more. A row that
// anybody else has written since, the next call of this owner included, is left as it is.
func (a *acquisition) undo(ctx context.Context, doubted []string) error {
	_, err := rowstore.Change[leaseRow]{
		Key: a.key, Decode: decodeLease, TTL: a.ttl,
		Propose: func(seen rowstore.Known[leaseRow], at rowstore.Moment) (rowstore.Proposal[leaseRow], error) {
			row := seen.Row
			switch {
			case slices.Contains(doubted, row.rev):
				return rowstore.Write(row.freed(at, a.store.retention)), nil
			case row.rev != a.base:
				return rowstore.Proposal[leaseRow]{}, nil
			case row.rev == "":
				return rowstore.Write(a.taken.freed(at, a.store.retention)), nil
			default:
				return rowstore.Write(row), nil
			}
		},
	}.Do(ctx, a.store.rows)
	return err
}
