package dynamolease

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// Heartbeat makes a node a member of its service for ttl (1 s to a year) from now, or keeps it one.
// A later heartbeat replaces address and groups: a group that it does not list is gone at once. The
// row of a node is written by one process; a second one under the same name would replace it at
// each of its heartbeats.
//
// It is one write, and one read more the first time.
//
// The error wraps [ErrUnknownOutcome] when it is unknown whether the heartbeat was written. Other
// errors: [ArgumentError], [RowError], [SetupError], the context's, or the SDK's, after retries for
// at most half the ttl.
func (s *Store) Heartbeat(ctx context.Context, node Node, ttl time.Duration) (Member, error) {
	if err := firstError(node.validate(), checkTTL(ttl)); err != nil {
		return Member{}, s.explain(err, "heartbeat")
	}
	row := node.row(memberKey(node.Service, node.Name))
	done, err := rowstore.Change[memberRow]{
		Key: row.key, Cache: s.members, Decode: decodeMember, TTL: ttl, Start: rowstore.Always[memberRow],
		Budget: s.rows.First(ttl, ttl*2/3),
		Hidden: rowstore.AnyRow[memberRow],
		Propose: func(_ rowstore.Known[memberRow], at rowstore.Moment) (rowstore.Proposal[memberRow], error) {
			return rowstore.Write(row.extended(ttl, at)), nil
		},
	}.Do(ctx, s.rows)
	if err != nil {
		return Member{}, s.explain(err, "heartbeat of %s in %s", node.Name, node.Service)
	}
	s.members.Keep(row.key, done.Known, done.Applied.At)
	return done.Known.Row.member(), nil
}

// Members returns the live members of a service, in node order (by bytes), each with the groups it
// takes part in. It is one strongly consistent Query, however many groups there are.
//
// A malformed row is a [RowError], one for each joined; it comes with the members that could be
// read. Other errors, without any member: [ArgumentError], [SetupError], the context's, or the
// SDK's, after retries for at most 10 seconds a page.
func (s *Store) Members(ctx context.Context, service string) ([]Member, error) {
	if err := checkName("service", service); err != nil {
		return nil, s.explain(err, "read members")
	}
	found, err := rowstore.QueryNow(ctx, s.rows, rowstore.Range{PK: memberPrefix + service}, nil, 0, rowstore.Tolerant(decodeService))
	if err != nil {
		return nil, s.explain(err, "read members of %s", service)
	}
	rows, _, malformed := rowstore.Sift(found.Rows)
	s.refreshDrains(ctx, rows, found.At)
	return s.newest(rows, found.At), s.explain(malformed, "read members of %s", service)
}

// newest lists each node once, by the latest of its live rows: a node that restarted has another
// session, and that one says where the node is found.
func (s *Store) newest(rows []serviceRow, at rowstore.Moment) []Member {
	latest := make(map[string]memberRow)
	drained := make(map[string]bool)
	for _, found := range rows {
		drained[found.drain.node] = found.drain.on
		row := found.member
		if former, ok := latest[row.node]; s.alive(row, at) && row.left == 0 && (!ok || former.opened <= row.opened) {
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
