package dynamolease

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// Leases returns the leases of a group, the free ones, too, as [Store.Leases] does. It is one Query,
// and one more where leases are of sessions that the look has not seen: that a session is missing there
// proves nothing, since it may have opened since. So a lease is only listed as free that was free when
// it was read, or of a session that is surely over.
//
// An eventual reading may show a lease as it was some moments ago, or not at all.
func (l *Look) Leases(ctx context.Context, group string, c Consistency) ([]Lease, error) {
	if err := checkName("group", group); err != nil {
		return nil, l.store.explain(err, "read leases")
	}
	all := leaseRows(group)
	all.Eventual = c == Eventual
	found, err := rowstore.QueryNow(ctx, l.store.rows, all, nil, 0, rowstore.Tolerant(decodeLease))
	if err != nil {
		return nil, l.store.explain(err, "read leases of %s", group)
	}
	rows, _, malformed := rowstore.Sift(found.Rows)
	known, strangers := l.split(rows)
	sessions, malformedSessions, err := l.store.sessionsOf(ctx, strangers, found.At)
	if err != nil {
		return nil, l.store.explain(err, "read leases of %s", group)
	}
	l.groups.keep(group, rows)
	leases := slices.Concat(l.sessions.judgeAll(known, found.At), sessions.judgeAll(strangers, found.At))
	slices.SortFunc(leases, func(a, b Lease) int { return a.Partition - b.Partition })
	return leases, l.store.explain(errors.Join(malformed, malformedSessions), "read leases of %s", group)
}

// split returns the rows that can be judged by the sessions that the look has seen, and the others.
func (l *Look) split(rows []leaseRow) (known, strangers []leaseRow) {
	for _, row := range rows {
		if row.inSession() && !l.sessions.seen[row.session] && !l.sessions.malformed[row.session] {
			strangers = append(strangers, row)
		} else {
			known = append(known, row)
		}
	}
	return known, strangers
}

// Acquire is [Store.Acquire] on top of the row that Leases has seen: a lease that was given up, or was
// never held, costs a write and no reading.
func (l *Look) Acquire(ctx context.Context, group string, partition int, owner string, ttl time.Duration) (lease Lease, acquired bool, err error) {
	if err := firstError(checkLease(group, partition, owner), checkTTL(ttl)); err != nil {
		return Lease{}, false, l.store.explain(err, "acquire")
	}
	k := leaseKey(group, partition)
	a := &acquisition{store: l.store, key: k, holder: holder{owner: owner}, ttl: ttl, seen: l.groups.row(k, group)}
	return l.store.acquire(ctx, a, group, partition)
}

// AcquireIn is [Session.Acquire] on top of the row that Leases has seen: a lease that was given up, was
// never held, or is of a session that is over costs a write and no reading of its row. Of a session
// that died, the first acquisition reads the session's row, and marks it as over.
func (l *Look) AcquireIn(ctx context.Context, s *Session, group string, partition int) (lease Lease, acquired bool, err error) {
	if err := firstError(checkName("group", group), checkPartition("partition", partition)); err != nil {
		return Lease{}, false, s.store.explain(err, "acquire")
	}
	k := leaseKey(group, partition)
	lease, acquired, err = s.acquire(ctx, k, l.groups.row(k, group))
	return lease, acquired, s.store.explain(err, "acquire %s/%d", group, partition)
}
