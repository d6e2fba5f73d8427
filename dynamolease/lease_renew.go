package dynamolease

import (
	"context"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// Renew extends to at least ttl (1 s to a year) from now each live lease that owner holds among
// partitions, and returns them in partition order, with their epochs as they were. A partition that
// owner does not hold any more is left out, which is no error: stop its work. An expired lease is
// never extended, even if nobody took it. Leases in sessions are left out, too: the session's
// heartbeat keeps them.
//
// Up to 100 leases are one request, more are several at a time; see [Renewal]. A store reads the
// group once for leases that it did not acquire or renew itself. A renewal goes first: a Checkpoint
// or Transact of this store under the same lease waits for one attempt of it.
//
// A malformed row is a [RowError], one for each joined; it comes with the leases that were renewed.
// Any other failure fails the whole call: leases keep what they had left before it, some may have
// been extended all the same, and calling again is safe. The error wraps [ErrUnknownOutcome] when
// an answer was lost. Other errors: [ArgumentError], [SetupError], the context's, or the SDK's,
// after retries for at most half the ttl.
func (s *Store) Renew(ctx context.Context, group string, partitions []int, owner string, ttl time.Duration) ([]Lease, error) {
	if err := firstError(checkName("group", group), checkName("owner", owner), checkTTL(ttl)); err != nil {
		return nil, s.explain(err, "renew")
	}
	for _, partition := range partitions {
		if err := checkPartition("partitions", partition); err != nil {
			return nil, s.explain(err, "renew")
		}
	}
	b := s.extension(owner, ttl)
	for _, partition := range slices.Compact(slices.Sorted(slices.Values(partitions))) {
		b.Add(leaseKey(group, partition))
	}
	if err := b.Do(ctx); err != nil {
		return nil, s.explain(err, "renew leases of %s", group)
	}
	leases, me := make([]Lease, 0, len(partitions)), holder{owner: owner}
	for _, renewed := range b.Rows {
		if renewed.Lost {
			s.works.over(renewed.Key, me)
			s.works.lost(renewed.Key, me, renewed.Seen().loss(me))
		}
		if renewed.Applied != nil {
			row := renewed.Applied.Row
			lease := row.lease()
			lease.validity = newValidity(s.rows.Time, renewed.Applied.At, ttl, row.exp, renewed.Answer)
			lease.progress = s.works.renewed(renewed.Key, row.holder, row.epoch, row.work)
			leases = append(leases, lease)
		}
	}
	return leases, s.explain(b.Malformed(), "renew leases of %s", group)
}

// maxGivingWay is how long a renewal waits at most for requests of this process that are on their
// way to its rows: DynamoDB refuses one of two that meet if one is a transaction.
const maxGivingWay = 200 * time.Millisecond

func (s *Store) extension(owner string, ttl time.Duration) *rowstore.Bulk[leaseRow] {
	me := holder{owner: owner}
	return &rowstore.Bulk[leaseRow]{
		Table: s.rows, Cache: s.leases, Decode: decodeLease, By: me, TTL: ttl, EachItem: s.renewal == EachItem,
		First: func(ctx context.Context, rows []rowstore.Key) (leave func()) {
			return s.requests.First(ctx, rows, min(maxGivingWay, ttl/20))
		},
		Holds: func(row leaseRow, at rowstore.Moment) bool { return row.heldBy(me) && row.unexpired(at) },
		Next: func(row leaseRow, at rowstore.Moment) (leaseRow, error) {
			return row.acquired(me, true, ttl, at, s.retention)
		},
	}
}

// loss returns why a row does not let its former holder extend the lease.
func (r leaseRow) loss(former holder) *LossError {
	switch {
	case r.rev == "":
		return &LossError{Reason: LossGone}
	case r.owner == "":
		return &LossError{Reason: LossFreed}
	case r.holder != former:
		return &LossError{Reason: LossTaken, Owner: r.owner, Epoch: r.epoch}
	case r.revoked:
		return &LossError{Reason: LossRevoked}
	default:
		return &LossError{Reason: LossExpired}
	}
}
