package dynamolease

import (
	"context"
	"errors"
	"slices"
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
	rows, err := s.rowsOf(ctx, service, node)
	if err != nil {
		return s.explain(err, "leave of %s from %s", node, service)
	}
	var errs []error
	for _, k := range rows {
		errs = append(errs, s.leave(ctx, k))
	}
	return s.explain(errors.Join(errs...), "leave of %s from %s", node, service)
}

// rowsOf are the rows of a node in a service: its own, which may be about to be written by a heartbeat that was never
// answered, and those of its sessions.
func (s *Store) rowsOf(ctx context.Context, service, node string) ([]key, error) {
	own := memberKey(service, node)
	// Keys from the node's own to the last that begins with it and '#'.
	found, _, err := query(ctx, s, rowRange{own.pk, own.sk, own.sk + "#\U0010FFFF"}, nil, 0, decodeMember)
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

// leave marks a row. It is not deleted: what a session holds depends on its row, and a heartbeat that was never answered
// could make a deleted row again, while it cannot be applied to one with another rev.
func (s *Store) leave(ctx context.Context, k key) error {
	done, err := settle(ctx, s, change[memberRow]{
		key: k, rows: s.members, decode: decodeMember, start: always,
		propose: func(seen sighting[memberRow], at moment) (proposal[memberRow], error) {
			row := seen.row
			if len(seen.unanswered) == 0 && (row.rev == "" || row.left > 0) {
				return proposal[memberRow]{action: leave, next: row}, nil
			}
			row.left = at.latest()
			if row.session == "" {
				row = memberRow{key: k, node: k.sk[len(nodePrefix):], address: "-", left: row.left, exp: 1, ttl: cleanup(at.latest(), s.retention)}
			}
			return proposal[memberRow]{action: write, next: row}, nil
		},
	})
	if err == nil && done.applied != nil {
		s.members.keep(k, done.seen, done.applied.at)
	}
	return err
}

func always(sighting[memberRow], moment) bool { return true }

// sortedSet is the list sorted, each once.
func sortedSet(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}
