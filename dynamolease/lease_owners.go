package dynamolease

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// Owners returns the live leases of a group, in partition order; none for a group that nobody has
// used. It is one strongly consistent Query, in as many pages as the rows need (about 6,000 leases
// each, fewer with checkpoints), and one more for each service whose sessions hold leases of the
// group. It is no snapshot: leases may change hands while it reads.
//
// A malformed row is a [RowError], one for each joined; it comes with the leases that could be
// read, those of a session whose row is malformed among them. Other errors, without any lease:
// [ArgumentError], [SetupError], the context's, or the SDK's, after retries for at most 10 seconds
// a page.
func (s *Store) Owners(ctx context.Context, group string) ([]Lease, error) {
	if err := checkName("group", group); err != nil {
		return nil, s.explain(err, "read owners")
	}
	found, err := s.readLeases(ctx, leaseRows(group))
	leases := slices.DeleteFunc(found, func(l Lease) bool { return l.Owner == "" })
	return leases, s.explain(err, "read owners of %s", group)
}

// Leases returns the lease of each partition of a group that has a row, in partition order, the free
// ones with their checkpoints, too: a [Lease] without an Owner is free. It acquires nothing. A
// partition that nobody has used, or whose row was deleted since ([Options.Retention]), has no row,
// and is free as well: the store does not know how many partitions there are.
//
// The leases are only to look at: [Store.Transact] and the like need one that was acquired.
//
// Reading and errors are those of [Store.Owners].
func (s *Store) Leases(ctx context.Context, group string) ([]Lease, error) {
	if err := checkName("group", group); err != nil {
		return nil, s.explain(err, "read leases")
	}
	leases, err := s.readLeases(ctx, leaseRows(group))
	return leases, s.explain(err, "read leases of %s", group)
}

// Lease returns the lease of one partition as it is now, without acquiring it. Where nobody holds
// it, also because the holder's time is over, the lease has no Owner, and the epoch and the
// checkpoint that the latest holder left. Where there is no row, it has no epoch either: nobody has
// used the partition, or the row was deleted since. The lease is only to look at, as from
// [Store.Leases].
//
// It is one strongly consistent read, and one more for a lease in a session. Errors: [ArgumentError],
// [RowError], also for the row of the session that holds the lease, [SetupError], the context's, or
// the SDK's, after retries for at most 10 seconds.
func (s *Store) Lease(ctx context.Context, group string, partition int) (Lease, error) {
	if err := firstError(checkName("group", group), checkPartition("partition", partition)); err != nil {
		return Lease{}, s.explain(err, "read lease")
	}
	k := leaseKey(group, partition)
	leases, err := s.readLeases(ctx, rowstore.Range{PK: k.PK, First: k.SK, Last: k.SK})
	if err != nil || len(leases) == 0 {
		return Lease{Group: group, Partition: partition}, s.explain(err, "read lease %s/%d", group, partition)
	}
	return leases[0], nil
}

// readLeases returns the leases of rows, those that nobody holds without an owner. A malformed row
// is an error that comes with the other leases.
func (s *Store) readLeases(ctx context.Context, r rowstore.Range) ([]Lease, error) {
	found, err := rowstore.QueryNow(ctx, s.rows, r, nil, 0, rowstore.Tolerant(decodeLease))
	if err != nil {
		return nil, err
	}
	rows, _, malformed := rowstore.Sift(found.Rows)
	sessions, malformedSessions, err := s.sessionsOf(ctx, rows, found.At)
	if err != nil {
		return nil, err
	}
	return sessions.judgeAll(rows, found.At), errors.Join(malformed, malformedSessions)
}

// sessionRows are the rows of sessions, as they were read after those of their leases.
type sessionRows struct {
	alive     map[rowstore.Key]memberRow
	seen      map[rowstore.Key]bool // whether they live or not
	malformed map[rowstore.Key]bool
}

// sessionsOf reads the sessions of rows: those of a service at once, or the one of a single row.
func (s *Store) sessionsOf(ctx context.Context, rows []leaseRow, at rowstore.Moment) (sessions sessionRows, malformed, err error) {
	sessions = sessionRows{make(map[rowstore.Key]memberRow), make(map[rowstore.Key]bool), make(map[rowstore.Key]bool)}
	read := make(map[string]bool)
	for _, row := range rows {
		if !row.inSession() || read[row.session.PK] {
			continue
		}
		read[row.session.PK] = true
		between := rowsOfNodes(row.session.PK)
		if len(rows) == 1 {
			between.First, between.Last = row.session.SK, row.session.SK
		}
		found, answer, err := rowstore.Query(ctx, s.rows, between, nil, 0, rowstore.Tolerant(decodeMember))
		if err != nil {
			return sessions, nil, err
		}
		members, broken, rowsErr := rowstore.Sift(found)
		for _, member := range members {
			if s.alive(member, at.AsOf(answer)) {
				sessions.alive[member.key] = member
			}
		}
		maps.Copy(sessions.malformed, broken)
		malformed = errors.Join(malformed, rowsErr)
	}
	return sessions, malformed, nil
}

// judgeAll returns the leases of rows, those that nobody holds without an owner.
func (s sessionRows) judgeAll(rows []leaseRow, at rowstore.Moment) []Lease {
	leases := make([]Lease, len(rows))
	for i, row := range rows {
		leases[i] = s.judge(row, at)
	}
	return leases
}

// judge returns the lease of a row, without an owner if its holder is surely over: a session that is
// not there any more has no leases; a malformed one may have.
func (s sessionRows) judge(row leaseRow, at rowstore.Moment) Lease {
	session := s.alive[row.session]
	if !row.unexpired(at) && (!row.inSession() || session.rev == "" && !s.malformed[row.session]) {
		row.holder, row.exp, row.revoked = holder{}, 0, false
	}
	lease := row.lease()
	if row.inSession() && session.rev != "" {
		lease.ExpiresAt = time.UnixMilli(session.exp).UTC()
	}
	return lease
}
