package dynamolease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/internal/request"
	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// Revoke takes the lease of a partition from the holder that has it with the given epoch. It is for
// operators, say when a holder is stuck. It frees nothing under a holder that may still believe in
// it. Nothing extends the lease from now on. Once the holder's own validity has passed for certain,
// or it has released the lease, the lease is free, with a greater epoch, and fenced writes of the
// holder are refused.
//
// done is true once that is so: the partition has another epoch, or no holder. Otherwise the lease is
// as it stands: call Revoke again, a second or so apart, until done. What it takes until then:
//
//   - a lease with its own expiry ends when that has passed, a ttl at the most: Renew leaves it
//     out, and Acquire refuses it to its own holder;
//   - a lease in a session is named to the session, which learns of it with its next heartbeat. The
//     lease then ends where the session would have without that heartbeat ([Lease.Revoked]). The
//     session releases it; a coordinator does when the handler has returned, or the group's drain
//     timeout has passed. A holder that lives and does not release it keeps it.
//
// Anyone can acquire a free partition, including the former holder.
//
// It is up to four reads and two writes; a call again is a read or two. Errors: [ArgumentError],
// [RowError], [SetupError], [ErrUnknownOutcome], the context's, or the SDK's, after retries for at
// most 10 seconds a request. Calling again is safe.
func (s *Store) Revoke(ctx context.Context, group string, partition int, epoch int64) (lease Lease, done bool, err error) {
	if err := firstError(checkName("group", group), checkPartition("partition", partition), checkEpoch(epoch)); err != nil {
		return Lease{}, false, s.explain(err, "revoke")
	}
	r := &revocation{epoch: epoch, acquisition: acquisition{store: s, key: leaseKey(group, partition)}}
	lease, done, err = r.run(ctx)
	return lease, done, s.explain(err, "revoke %s/%d", group, partition)
}

// A revocation takes one lease from its holder.
type revocation struct {
	acquisition       // of nobody: it judges whether the holder is over
	epoch       int64 // of the lease
}

func (r *revocation) run(ctx context.Context) (Lease, bool, error) {
	row, live, err := r.look(ctx)
	switch {
	case err != nil:
		return Lease{}, false, err
	case r.over(row):
		return row.lease(), true, nil
	case !live:
		if lease, done, err := r.take(ctx); done || err != nil {
			return lease, done, err
		}
		return r.run(ctx) // it lives: a late request has extended it meanwhile
	case row.revoked:
		return r.describe(row), false, nil
	}
	if !row.inSession() {
		return r.mark(ctx)
	}
	if err := r.order(ctx, row); err != nil {
		return Lease{}, false, err
	}
	lease, done, err := r.mark(ctx)
	if err != nil && !errors.Is(err, ErrUnknownOutcome) {
		err = fmt.Errorf("%w: the session was told to give the lease up, and the lease does not say so yet: %w", ErrUnknownOutcome, err)
	}
	return lease, done, err
}

// over reports whether the lease is not there any more.
func (r *revocation) over(row leaseRow) bool { return row.owner == "" || row.epoch != r.epoch }

// look reads the row, and reports whether its holder may still be there.
func (r *revocation) look(ctx context.Context) (row leaseRow, live bool, err error) {
	rows := r.store.rows
	found, err := rowstore.QueryNow(ctx, rows, rowstore.Range{PK: r.key.PK, First: r.key.SK, Last: r.key.SK}, nil, 0, decodeLease)
	if err != nil || len(found.Rows) == 0 {
		return leaseRow{key: r.key}, false, err
	}
	row = found.Rows[0]
	if err := r.consult(ctx, row, found.At, rows.Budget(0), rows.Timeout(0)); err != nil {
		return row, false, err
	}
	return row, r.live(row, found.At), nil
}

// take frees the lease of a holder that is over, with a greater epoch.
func (r *revocation) take(ctx context.Context) (Lease, bool, error) {
	return r.rewrite(ctx, r.consult, func(seen rowstore.Known[leaseRow], at rowstore.Moment) (rowstore.Proposal[leaseRow], error) {
		row := seen.Row
		if r.over(row) || r.live(row, at) {
			return rowstore.Proposal[leaseRow]{}, nil
		}
		next, err := row.acquired(r.holder, false, 0, at, r.store.retention)
		return rowstore.Write(next.freed(at, r.store.retention)), err
	})
}

// mark writes into the row that nothing extends the lease, if it is still the one to be revoked.
func (r *revocation) mark(ctx context.Context) (Lease, bool, error) {
	return r.rewrite(ctx, nil, func(seen rowstore.Known[leaseRow], _ rowstore.Moment) (rowstore.Proposal[leaseRow], error) {
		row := seen.Row
		if r.over(row) || row.revoked {
			return rowstore.Proposal[leaseRow]{}, nil
		}
		row.revoked = true
		return rowstore.Write(row), nil
	})
}

// rewrite changes the row of the lease, from a fresh look at it, and returns the lease as Revoke
// shows it then.
func (r *revocation) rewrite(ctx context.Context,
	consult func(context.Context, leaseRow, rowstore.Moment, *request.Budget, time.Duration) error,
	propose func(rowstore.Known[leaseRow], rowstore.Moment) (rowstore.Proposal[leaseRow], error),
) (Lease, bool, error) {
	done, err := rowstore.Change[leaseRow]{
		Key: r.key, Decode: decodeLease, Consult: consult, Propose: propose, Returns: true, Hidden: rowstore.AnyRow[leaseRow],
	}.Do(ctx, r.store.rows)
	if err != nil {
		return Lease{}, false, err
	}
	row := done.Known.Row
	row.key = r.key // where the row is not there any more, it has none
	return r.describe(row), r.over(row), nil
}

// maxOrders is how many leases a session can be told to give up with one heartbeat.
const maxOrders = 100

// order writes into the session's row that it must give the lease up. The session's next heartbeat
// meets a row that is not as it was, and sees why; it takes the order out again.
func (r *revocation) order(ctx context.Context, row leaseRow) error {
	text := order{row.key, row.epoch}.String()
	_, err := rowstore.Change[memberRow]{
		Key: row.session, Decode: decodeMember, Hidden: rowstore.AnyRow[memberRow],
		Propose: func(seen rowstore.Known[memberRow], at rowstore.Moment) (rowstore.Proposal[memberRow], error) {
			session := seen.Row
			if !session.live(at) || slices.Contains(session.revoked, text) {
				return rowstore.Proposal[memberRow]{}, nil
			}
			if len(session.revoked) >= maxOrders {
				return rowstore.Proposal[memberRow]{}, fmt.Errorf("session %s must give up %d leases already: try again after its next heartbeat", session.session, maxOrders)
			}
			session.revoked = append(slices.Clone(session.revoked), text)
			return rowstore.Write(session), nil
		},
	}.Do(ctx, r.store.rows)
	return err
}
