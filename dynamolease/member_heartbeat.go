package dynamolease

import (
	"context"
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
	if err := firstError(node.Validate(), checkTTL(ttl)); err != nil {
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
