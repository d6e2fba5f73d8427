package dynamolease

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Leave takes node off the members of a service at once, for a graceful shutdown. Leases that it has not released stay
// its own: those in its sessions until the sessions end. A node that is no member is no error.
//
// The error wraps [ErrUnknownOutcome] when nothing tells whether the node is gone. Other errors: [ArgumentError],
// [RowError], [SetupError], the context's, or the SDK's, after retries for at most 10 seconds a row.
func (s *Store) Leave(ctx context.Context, service, node string) error {
	if err := firstError(checkName("service", service), checkNode(node)); err != nil {
		return s.explain(err, "leave")
	}
	rows, err := s.rowsOf(ctx, service, node)
	if err != nil {
		return s.explain(err, "leave of %s from %s", node, service)
	}
	var errs []error
	for _, k := range rows {
		errs = append(errs, s.leave(ctx, k, node))
	}
	return s.explain(errors.Join(errs...), "leave of %s from %s", node, service)
}

// rowsOf are the rows of a node in a service: its own, which may be about to be written by a heartbeat that was never
// answered, and those of its sessions.
func (s *Store) rowsOf(ctx context.Context, service, node string) ([]key, error) {
	own := memberKey(service, node)
	// Keys from the node's own to the last that begins with it and '#'.
	found, err := query(ctx, s, rowRange{own.pk, own.sk, own.sk + "#\U0010FFFF"}, 0, decodeMember)
	if err != nil {
		return nil, err
	}
	keys := []key{own}
	for _, row := range found {
		if row.node == node && row.session != "" && row.left == 0 {
			keys = append(keys, row.key)
		}
	}
	return keys, nil
}

// leave deletes the row of a node by heartbeats, and marks that of a session: what a session holds depends on its row,
// so nobody but the session itself may delete it.
func (s *Store) leave(ctx context.Context, k key, node string) error {
	_, err := settle(ctx, s, change[memberRow]{
		key: k, rows: s.members, decode: decodeMember, start: always,
		propose: func(seen sighting[memberRow], at moment) (proposal[memberRow], error) {
			switch row := seen.row; {
			case row.session != "":
				return leaveSession(row, at), nil
			case slices.ContainsFunc(seen.unanswered, func(rev string) bool { return rev != row.rev }):
				return proposal[memberRow]{action: write, next: gone(k, node, at, s.retention)}, nil
			case row.rev == "":
				return proposal[memberRow]{action: leave, next: row}, nil
			default:
				return proposal[memberRow]{action: remove, next: row}, nil
			}
		},
	})
	if err == nil {
		s.members.forget(k)
	}
	return err
}

func leaveSession(row memberRow, at moment) proposal[memberRow] {
	if row.left > 0 {
		return proposal[memberRow]{action: leave, next: row}
	}
	row.left = at.latest()
	return proposal[memberRow]{action: write, next: row}
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
