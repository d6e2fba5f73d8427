package dynamolease

import (
	"context"
	"slices"
	"time"
)

// Renew extends to at least ttl (1 s to a year) from now each live lease that owner holds among partitions, and returns
// them in partition order, with their epochs as they were. A partition that owner does not hold any more is left out,
// which is no error: stop its work. An expired lease is never extended, even if nobody took it. Leases in sessions are
// left out, too: the session's heartbeat keeps them.
//
// Up to 100 leases are one request, more are several at a time; see [Renewal]. A store reads the group once for leases
// that it did not acquire or renew itself.
//
// A malformed row is a [RowError], one for each joined; it comes with the leases that were renewed. Any other failure fails the
// whole call: leases keep what they had left before it, some may have been extended all the same, and calling again is
// safe. The error wraps [ErrUnknownOutcome] when an answer was lost. Other errors: [ArgumentError],
// [SetupError], the context's, or the SDK's, after retries for at most half the ttl.
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
		b.add(leaseKey(group, partition))
	}
	if err := b.run(ctx); err != nil {
		return nil, s.explain(err, "renew leases of %s", group)
	}
	leases := make([]Lease, 0, len(partitions))
	for _, item := range b.items {
		if item.applied != nil {
			row := item.applied.row
			lease := row.lease()
			lease.tenure = item.applied.at.tenure(ttl, row.exp, item.answer)
			leases = append(leases, lease)
		}
	}
	return leases, s.explain(b.malformed(), "renew leases of %s", group)
}

func (s *Store) extension(owner string, ttl time.Duration) *bulk {
	me := holder{owner: owner}
	return &bulk{
		store: s, ttl: ttl, holder: me,
		holds: func(row leaseRow, at moment) bool { return row.heldBy(me) && row.unexpired(at) },
		next: func(row leaseRow, at moment) (leaseRow, error) {
			return row.acquired(me, true, ttl, at, s.retention)
		},
	}
}
