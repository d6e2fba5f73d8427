package dynamolease

import (
	"context"
	"slices"
	"strings"
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
		key: row.key, rows: s.members, decode: decodeMember, ttl: ttl, start: always,
		propose: func(_ sighting[memberRow], at moment) (proposal[memberRow], error) {
			next := row
			next.exp = at.expiry(ttl)
			next.ttl = cleanup(next.exp, s.retention)
			return proposal[memberRow]{write, next}, nil
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
// Errors: [ArgumentError], [RowError] for the first malformed row, [SetupError], the context's, or the SDK's, after
// retries for at most 10 seconds a page.
func (s *Store) Members(ctx context.Context, service string) ([]Member, error) {
	if err := checkName("service", service); err != nil {
		return nil, s.explain(err, "read members")
	}
	rows, at, err := queryNow(ctx, s, rowRange{pk: memberPrefix + service}, 0, decodeMember)
	if err != nil {
		return nil, s.explain(err, "read members of %s", service)
	}
	var members []Member
	for _, row := range rows {
		if row.live(at) {
			members = append(members, row.member())
		}
	}
	slices.SortFunc(members, func(a, b Member) int { return strings.Compare(a.Node, b.Node) })
	return members, nil
}

// Leave takes node off the members of a service at once, for a graceful shutdown. Leases that it has not released stay
// its own until they expire. A node that is no member is no error.
//
// The error wraps [ErrUnknownOutcome] when nothing tells whether the node is gone. Other errors: [ArgumentError],
// [RowError], [SetupError], the context's, or the SDK's, after retries for at most 10 seconds.
func (s *Store) Leave(ctx context.Context, service, node string) error {
	if err := firstError(checkName("service", service), checkNode(node)); err != nil {
		return s.explain(err, "leave")
	}
	k := memberKey(service, node)
	_, err := settle(ctx, s, change[memberRow]{
		key: k, rows: s.members, decode: decodeMember, start: always,
		propose: func(seen sighting[memberRow], at moment) (proposal[memberRow], error) {
			switch {
			case len(seen.unanswered) > 0:
				return proposal[memberRow]{write, gone(k, node, at, s.retention)}, nil
			case seen.row.rev == "":
				return proposal[memberRow]{leave, seen.row}, nil
			default:
				return proposal[memberRow]{remove, seen.row}, nil
			}
		},
	})
	if err != nil {
		return s.explain(err, "leave of %s from %s", node, service)
	}
	s.members.forget(k)
	return nil
}

// gone is a row that is no member. It stands where a heartbeat was never answered: the heartbeat that made the row would
// be applied to a deleted one, but not to one with another rev.
func gone(k key, node string, at moment, retention time.Duration) memberRow {
	return memberRow{key: k, node: node, address: "-", exp: 1, ttl: cleanup(at.latest(), retention)}
}

func always(sighting[memberRow], moment) bool { return true }

// sortedSet is the list sorted, each once.
func sortedSet(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}
