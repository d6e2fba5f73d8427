package dynamolease

import "context"

// Owners returns the live leases of a group, in partition order; none for a group that nobody has used. It is one
// strongly consistent Query, in as many pages as the rows need (about 7,000 leases each), and no snapshot: leases may
// change hands while it reads.
//
// Errors: [ArgumentError], [RowError] for the first malformed row, [SetupError], the context's, or the SDK's, after
// retries for at most 10 seconds a page.
func (s *Store) Owners(ctx context.Context, group string) ([]Lease, error) {
	if err := checkName("group", group); err != nil {
		return nil, s.explain(err, "read owners")
	}
	rows, at, err := queryNow(ctx, s, rowRange{pk: leasePrefix + group}, 0, decodeLease)
	if err != nil {
		return nil, s.explain(err, "read owners of %s", group)
	}
	var leases []Lease
	for _, row := range rows {
		if row.live(at) {
			leases = append(leases, row.lease())
		}
	}
	return leases, nil
}
