package dynamolease

import (
	"context"
	"slices"
	"time"
)

// Owners returns the live leases of a group, in partition order; none for a group that nobody has used. It is one
// strongly consistent Query, in as many pages as the rows need (about 7,000 leases each), and one more for each service
// whose sessions hold leases of the group. It is no snapshot: leases may change hands while it reads.
//
// Errors: [ArgumentError], [RowError] for the first malformed row, [SetupError], the context's, or the SDK's, after
// retries for at most 10 seconds a page.
func (s *Store) Owners(ctx context.Context, group string) ([]Lease, error) {
	if err := checkName("group", group); err != nil {
		return nil, s.explain(err, "read owners")
	}
	found, err := queryNow(ctx, s, rowRange{pk: leasePrefix + group}, nil, 0, decodeLease)
	if err != nil {
		return nil, s.explain(err, "read owners of %s", group)
	}
	leases, err := s.live(ctx, found.rows, found.at)
	return leases, s.explain(err, "read owners of %s", group)
}

// live are the live ones of rows. Those in sessions are judged by their sessions, which are read after them: a session
// that is not there any more has no leases.
func (s *Store) live(ctx context.Context, rows []leaseRow, at moment) ([]Lease, error) {
	sessions := make(map[key]memberRow)
	read := make(map[string]bool)
	leases := slices.Grow([]Lease(nil), len(rows))
	for _, row := range rows {
		if row.inSession() && !read[row.session.pk] {
			read[row.session.pk] = true
			found, _, err := query(ctx, s, rowsOfNodes(row.session.pk), nil, 0, decodeMember)
			if err != nil {
				return nil, err
			}
			for _, member := range found {
				sessions[member.key] = member
			}
		}
		session := sessions[row.session]
		if !row.unexpired(at) && (!row.inSession() || !session.live(at)) {
			continue
		}
		lease := row.lease()
		if row.inSession() {
			lease.ExpiresAt = time.UnixMilli(session.exp).UTC()
		}
		leases = append(leases, lease)
	}
	return leases, nil
}
