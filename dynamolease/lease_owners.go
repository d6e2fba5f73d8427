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
	found, err := rowstore.QueryNow(ctx, s.rows, rowstore.Range{PK: leasePrefix + group}, nil, 0, rowstore.Tolerant(decodeLease))
	if err != nil {
		return nil, s.explain(err, "read owners of %s", group)
	}
	rows, _, malformed := rowstore.Sift(found.Rows)
	leases, malformedSessions, err := s.live(ctx, rows, found.At)
	if err != nil {
		return nil, s.explain(err, "read owners of %s", group)
	}
	return leases, s.explain(errors.Join(malformed, malformedSessions), "read owners of %s", group)
}

// live returns the live ones of rows. Those in sessions are judged by their sessions, which are
// read after them: a session that is not there any more has no leases; a malformed one may have.
func (s *Store) live(ctx context.Context, rows []leaseRow, at rowstore.Moment) (leases []Lease, malformed, err error) {
	sessions, unreadable := make(map[rowstore.Key]memberRow), make(map[rowstore.Key]bool)
	read := make(map[string]bool)
	leases = slices.Grow(leases, len(rows))
	for _, row := range rows {
		if row.inSession() && !read[row.session.PK] {
			read[row.session.PK] = true
			found, _, err := rowstore.Query(ctx, s.rows, rowsOfNodes(row.session.PK), nil, 0, rowstore.Tolerant(decodeMember))
			if err != nil {
				return nil, nil, err
			}
			members, broken, rowsErr := rowstore.Sift(found)
			for _, member := range members {
				if s.alive(member, at) {
					sessions[member.key] = member
				}
			}
			maps.Copy(unreadable, broken)
			malformed = errors.Join(malformed, rowsErr)
		}
		session := sessions[row.session]
		if !row.unexpired(at) && (!row.inSession() || session.rev == "" && !unreadable[row.session]) {
			continue
		}
		lease := row.lease()
		if session.rev != "" {
			lease.ExpiresAt = time.UnixMilli(session.exp).UTC()
		}
		leases = append(leases, lease)
	}
	return leases, malformed, nil
}
