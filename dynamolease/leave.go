package dynamolease

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// Leave takes node off the members of a service at once, for a graceful shutdown. Leases that it has not released stay
// its own: those in its sessions until the sessions end. A node that is no member is no error. It is a query of the
// node's rows, and one write for each; the rows stay until DynamoDB's TTL takes them.
//
// The error wraps [ErrUnknownOutcome] when nothing tells whether the node is gone. Other errors: [ArgumentError],
// [RowError], [SetupError], the context's, or the SDK's, after retries for at most 10 seconds a row.
func (s *Store) Leave(ctx context.Context, service, node string) error {
	if err := firstError(checkName("service", service), checkNode(node)); err != nil {
		return s.explain(err, "leave")
	}
	rows, errs, err := s.rowsOf(ctx, service, node)
	if err != nil {
		return s.explain(err, "leave of %s from %s", node, service)
	}
	for _, k := range rows {
		errs = append(errs, s.leave(ctx, k))
	}
	return s.explain(errors.Join(errs...), "leave of %s from %s", node, service)
}

// rowsOf are the rows of a node in a service: its own, those of its sessions, and those that may be about to be written
// by a heartbeat or an opening of this store that was never answered. Those of its sessions that are malformed are errors: they
// are no members as they are.
func (s *Store) rowsOf(ctx context.Context, service, node string) (keys []key, malformed []error, err error) {
	own := memberKey(service, node)
	found, _, err := query(ctx, s, rowsOfNode(own), nil, 0, tolerant(decodeMember))
	if err != nil {
		return nil, nil, err
	}
	keys = append([]key{own}, s.members.doubtful(own.pk, own.sk+"#")...)
	for _, p := range found {
		row := p.row
		switch {
		case p.err != nil:
			if strings.HasPrefix(p.key.sk, own.sk+"#") {
				malformed = append(malformed, p.err)
			}
		case row.node == node && row.session != "" && row.left == 0 && !slices.Contains(keys, row.key):
			keys = append(keys, row.key)
		}
	}
	return keys, malformed, nil
}

// rowsOfNode are the keys from the node's own to the last that begins with it and '#'.
func rowsOfNode(own key) rowRange { return rowRange{own.pk, own.sk, own.sk + "#\U0010FFFF"} }

// rowsOfNodes are the keys of all nodes of a service.
func rowsOfNodes(pk string) rowRange { return rowRange{pk, nodePrefix, nodePrefix + "\U0010FFFF"} }

// leave marks a row. It is not deleted: what a session holds depends on its row, and a heartbeat that was never answered
// could make a deleted row again, while it cannot be applied to one with another rev.
func (s *Store) leave(ctx context.Context, k key) error {
	done, err := settle(ctx, s, change[memberRow]{
		key: k, rows: s.members, decode: decodeMember, start: always, hidden: anyRow[memberRow],
		propose: func(seen sighting[memberRow], at moment) (proposal[memberRow], error) {
			row := seen.row
			if len(seen.unanswered) == 0 && (row.rev == "" || row.left > 0) {
				return proposal[memberRow]{action: leave, next: row}, nil
			}
			if row.session == "" {
				row = absent(k, at)
			}
			row.left = at.latest()
			return proposal[memberRow]{action: write, next: row}, nil
		},
	})
	if err == nil && done.applied != nil {
		s.members.keep(k, done.seen, done.applied.at)
	}
	return err
}

// absent is the row of a node, or of a session, that is no member.
func absent(k key, at moment) memberRow {
	row := memberRow{key: k, address: "-", exp: 1, ttl: cleanup(at.latest(), memberRetention)}
	name := k.sk[len(nodePrefix):]
	row.node, _, _ = strings.Cut(name, "#")
	if name != row.node {
		row.session, row.opened = name, at.latest()
	}
	return row
}

func always(sighting[memberRow], moment) bool { return true }

// sortedSet is the list sorted, each once.
func sortedSet(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}
