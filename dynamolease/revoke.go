package dynamolease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dynamolease/dynamolease/internal/request"
)

// maxOrders is how many leases a session can be told to give up with one heartbeat.
const maxOrders = 100

// Revoke takes the lease of a partition from who holds it with the given epoch, for operators: when a holder is stuck, say. It
// frees nothing under a holder that may still believe in it. Nothing extends the lease from now on; when the holder's
// own validity has passed for certain, or it has released the lease, it is free, with a greater epoch, and fenced writes
// of the holder are refused.
//
// done is true when that is so: the partition has another epoch, or nobody. Otherwise the lease is as it stands, and Revoke is to be
// called again, until it is; a second or so apart. What it takes until then:
//
//   - a lease with its own expiry ends when that has passed, a ttl at the most: Renew leaves it out, and Acquire refuses it to
//     its own holder;
//   - a lease in a session is named to the session, which learns of it with its next heartbeat: the lease then ends where the
//     session would have without that heartbeat ([Lease.Revoked]). The session releases it; a coordinator does when the
//     handler has returned, or the group's drain timeout has passed. A holder that lives and does not release it keeps it.
//
// A free partition can be acquired by anybody, the former holder included.
//
// It is up to four reads and two writes; a call again is a read or two. Errors: [ArgumentError], [RowError], [SetupError],
// [ErrUnknownOutcome], the context's, or the SDK's, after retries for at most 10 seconds a request. Calling again is safe.
func (s *Store) Revoke(ctx context.Context, group string, partition int, epoch int64) (lease Lease, done bool, err error) {
	if err := firstError(checkName("group", group), checkPartition("partition", partition), checkEpoch(epoch)); err != nil {
		return Lease{}, false, s.explain(err, "revoke")
	}
	r := &revocation{epoch: epoch, acquisition: acquisition{store: s, key: leaseKey(group, partition)}}
	lease, done, err = r.run(ctx)
	return lease, done, s.explain(err, "revoke %s/%d", group, partition)
}

func checkEpoch(epoch int64) error {
	if epoch <= 0 {
		return &ArgumentError{"epoch", fmt.Sprintf("%d is out of range: it is that of the lease to be revoked, above 0", epoch)}
	}
	return nil
}

// A revocation takes one lease from its holder.
type revocation struct {
	acquisition       // of nobody, which tells whether the holder is over
	epoch       int64 // of the lease
}

func (r *revocation) run(ctx context.Context) (Lease, bool, error) {
	row, live, err := r.look(ctx)
	switch {
	case err != nil:
		return Lease{}, false, err
	case row.owner == "" || row.epoch != r.epoch:
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
		err = fmt.Errorf("%w: the session is to give it up, and the lease does not say so yet: %w", ErrUnknownOutcome, err)
	}
	return lease, done, err
}

// look reads the row, and tells whether its holder may still be there.
func (r *revocation) look(ctx context.Context) (row leaseRow, live bool, err error) {
	found, err := queryNow(ctx, r.store, rowRange{r.key.pk, r.key.sk, r.key.sk}, nil, 0, decodeLease)
	if err != nil || len(found.rows) == 0 {
		return leaseRow{key: r.key}, false, err
	}
	row = found.rows[0]
	if err := r.consult(ctx, row, r.store.budget(0), r.store.timeout(0)); err != nil {
		return row, false, err
	}
	return row, r.live(row, found.at), nil
}

// take frees the lease of a holder that is over, with a greater epoch.
func (r *revocation) take(ctx context.Context) (Lease, bool, error) {
	return r.rewrite(ctx, r.consult, func(seen sighting[leaseRow], at moment) (proposal[leaseRow], error) {
		row := seen.row
		if row.owner == "" || row.epoch != r.epoch || r.live(row, at) {
			return proposal[leaseRow]{action: leave, next: row}, nil
		}
		p := proposal[leaseRow]{action: write}
		if row.inSession() {
			p.check = &condition{row.session, []string{r.other.rev}}
		}
		next, err := row.acquired(r.holder, false, 0, at, r.store.retention)
		p.next = next.freed(at, r.store.retention)
		return p, err
	})
}

// order writes into the session's row that it is to give the lease up. The session's next heartbeat meets a row that is not
// as it was, and sees why; it takes the order out again.
func (r *revocation) order(ctx context.Context, row leaseRow) error {
	order := orderOf(row.key, row.epoch)
	_, err := settle(ctx, r.store, change[memberRow]{
		key: row.session, rows: newMemory(func(memberRow, int64) bool { return false }), decode: decodeMember, hidden: anyRow[memberRow],
		start: func(sighting[memberRow], moment) bool { return false },
		propose: func(seen sighting[memberRow], at moment) (proposal[memberRow], error) {
			session := seen.row
			if !session.live(at) || slices.Contains(session.revoked, order) {
				return proposal[memberRow]{action: leave, next: session}, nil
			}
			if len(session.revoked) >= maxOrders {
				return proposal[memberRow]{}, fmt.Errorf("session %s is to give up %d leases already: try again after its next heartbeat", session.session, maxOrders)
			}
			session.revoked = append(slices.Clone(session.revoked), order)
			return proposal[memberRow]{action: write, next: session}, nil
		},
	})
	return err
}

// mark writes into the row that the lease is not to be extended, if it is still the one that is to be revoked.
func (r *revocation) mark(ctx context.Context) (Lease, bool, error) {
	return r.rewrite(ctx, nil, func(seen sighting[leaseRow], _ moment) (proposal[leaseRow], error) {
		row := seen.row
		if row.owner == "" || row.epoch != r.epoch || row.revoked {
			return proposal[leaseRow]{action: leave, next: row}, nil
		}
		row.revoked = true
		return proposal[leaseRow]{action: write, next: row}, nil
	})
}

// rewrite changes the row of the lease, from a fresh look at it, and says what Revoke is to say of it then.
func (r *revocation) rewrite(ctx context.Context, consult func(context.Context, leaseRow, *request.Budget, time.Duration) error,
	propose func(sighting[leaseRow], moment) (proposal[leaseRow], error),
) (Lease, bool, error) {
	done, err := settle(ctx, r.store, change[leaseRow]{
		key: r.key, rows: newMemory(func(leaseRow, int64) bool { return false }), decode: decodeLease,
		start: func(sighting[leaseRow], moment) bool { return false }, consult: consult, propose: propose,
	})
	if err != nil {
		return Lease{}, false, err
	}
	row := done.seen.row
	row.key = r.key // where the row is not there any more, it has none
	return r.describe(row), row.owner == "" || row.epoch != r.epoch, nil
}

// orderOf names a lease in a session's row.
func orderOf(k key, epoch int64) string { return fmt.Sprintf("%d %s %s", epoch, k.sk, k.pk) }

// parseOrder is the lease that an order names. What is none names no lease that there could be.
func parseOrder(order string) (k key, epoch int64) {
	number, name, _ := strings.Cut(order, " ")
	k.sk, k.pk, _ = strings.Cut(name, " ")
	epoch, _ = strconv.ParseInt(number, 10, 64)
	return k, epoch
}

// revoke has the session's heartbeats extend these leases no more. It remembers them: the session may be about to learn
// that it has acquired one of them.
func (s *Session) revoke(orders []string) {
	if len(orders) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, order := range orders {
		k, epoch := parseOrder(order)
		s.revoked[k] = max(s.revoked[k], epoch)
		if grip := s.held[k]; grip != nil && grip.epoch == epoch {
			grip.revoke()
		}
	}
}

// Revoked tells whether an operator has taken the lease from its holder (see [Store.Revoke]): what it has left is not extended
// any more. Of a lease in a session of this process it tells as soon as the session knows: finish the work, and release it. Of
// any other it is as the store saw it. (A lease of one's own with an expiry of its own is left out by the next Renew.)
func (l Lease) Revoked() bool {
	return l.revoked || l.tenure.grip != nil && l.tenure.grip.revoked.Load()
}
