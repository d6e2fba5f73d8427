package dynamolease

import (
	"context"
	"maps"
	"slices"
	"time"
)

// Heartbeat makes node a member of a service for ttl (1 s to a year) from now, reachable at address and taking part in
// groups (none by default, at most 100), or keeps it one. A later heartbeat replaces address and groups: a group that
// it does not list is gone at once. The row of a node is written by one process; a second one under the same name would
// replace it at each of its heartbeats.
//
// It is one write, and one read more the first time.
//
// The error wraps [ErrUnknownOutcome] when nothing tells whether the heartbeat was written. Other errors:
// [ArgumentError], [RowError], [SetupError], the context's, or the SDK's, after retries for at most half the ttl.
func (s *Store) Heartbeat(ctx context.Context, service, node, address string, ttl time.Duration, groups ...string) (Member, error) {
	err := firstError(checkName("service", service), checkNode(node), checkName("address", address), checkTTL(ttl), checkGroups(groups))
	if err != nil {
		return Member{}, s.explain(err, "heartbeat")
	}
	row := memberRow{key: memberKey(service, node), node: node, address: address, groups: sortedSet(groups)}
	done, err := settle(ctx, s, change[memberRow]{
		key: row.key, rows: s.members, decode: decodeMember, ttl: ttl, start: always, hidden: anyRow[memberRow],
		propose: func(_ sighting[memberRow], at moment) (proposal[memberRow], error) {
			next := row
			next.exp = at.expiry(ttl)
			next.ttl = cleanup(next.exp, memberRetention)
			return proposal[memberRow]{action: write, next: next}, nil
		},
	})
	if err != nil {
		return Member{}, s.explain(err, "heartbeat of %s in %s", node, service)
	}
	s.members.keep(row.key, done.seen, done.applied.at)
	return done.seen.row.member(), nil
}

// Members returns the live members of a service, in node order (by bytes), each with the groups it takes part in. It is
// one strongly consistent Query, however many groups there are.
//
// A malformed row is a [RowError], one for each joined; it comes with the members that could be read. Other errors, without any
// member: [ArgumentError], [SetupError], the context's, or the SDK's, after retries for at most 10 seconds a page.
func (s *Store) Members(ctx context.Context, service string) ([]Member, error) {
	if err := checkName("service", service); err != nil {
		return nil, s.explain(err, "read members")
	}
	found, err := queryNow(ctx, s, rowRange{pk: memberPrefix + service}, nil, 0, tolerant(decodeService))
	if err != nil {
		return nil, s.explain(err, "read members of %s", service)
	}
	rows, _, malformed := sift(found.rows)
	return newest(rows, found.at), s.explain(malformed, "read members of %s", service)
}

// newest lists each node once, by the latest of its live rows: a node that restarted has another session, and is found
// where that one says.
func newest(rows []serviceRow, at moment) []Member {
	latest := make(map[string]memberRow)
	drained := make(map[string]bool)
	for _, found := range rows {
		drained[found.drain.node] = found.drain.on
		row := found.member
		if former, ok := latest[row.node]; row.live(at) && row.left == 0 && (!ok || former.opened <= row.opened) {
			latest[row.node] = row
		}
	}
	members := make([]Member, 0, len(latest))
	for _, node := range slices.Sorted(maps.Keys(latest)) {
		member := latest[node].member()
		member.Drained = drained[node]
		members = append(members, member)
	}
	return members
}
