package dynamolease

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// Leave takes node off the members of a service at once, for a graceful shutdown. Leases that it
// has not released stay its own: those in its sessions until the sessions end. A node that lives is a
// member again with its next heartbeat: [Store.Drain] keeps one from working. A node that is no
// member is no error. It is a query of the node's rows, and one write for each; the rows stay until
// DynamoDB's TTL takes them.
//
// The error wraps [ErrUnknownOutcome] when it is unknown whether the node is gone. Other errors:
// [ArgumentError], [RowError], [SetupError], the context's, or the SDK's, after retries for at most
// 10 seconds a row.
func (s *Store) Leave(ctx context.Context, service, node string) error {
	if err := firstError(checkName("service", service), checkNode("node", node)); err != nil {
		return s.explain(err, "leave")
	}
	rows, errs, err := s.rowsOf(ctx, service, node)
	if err != nil {
		return s.explain(err, "leave of %s from %s", node, service)
	}
	for _, k := range rows {
		errs = append(errs, s.leave(ctx, k, 0, 0))
	}
	return s.explain(errors.Join(errs...), "leave of %s from %s", node, service)
}

// rowsOf returns the keys of a node's rows in a service: its own, those of its sessions, and those
// that a heartbeat or an opening of this store, which was never answered, may be about to write.
// Rows of its sessions that are malformed are errors: as they are, they make no members.
func (s *Store) rowsOf(ctx context.Context, service, node string) (keys []rowstore.Key, malformed []error, err error) {
	own := memberKey(service, node)
	found, _, err := rowstore.Query(ctx, s.rows, rowsOfNode(own), nil, 0, rowstore.Tolerant(decodeMember))
	if err != nil {
		return nil, nil, err
	}
	keys = append([]rowstore.Key{own}, s.members.Pending(own.PK, own.SK+"#")...)
	for _, p := range found {
		row := p.Row
		switch {
		case p.Err != nil:
			if strings.HasPrefix(p.Key.SK, own.SK+"#") {
				malformed = append(malformed, p.Err)
			}
		case row.node == node && row.session != "" && row.left == 0 && !slices.Contains(keys, row.key):
			keys = append(keys, row.key)
		}
	}
	return keys, malformed, nil
}

// rowsOfNode are the keys from the node's own to the last that begins with it and '#'.
func rowsOfNode(own rowstore.Key) rowstore.Range {
	return rowstore.Range{PK: own.PK, First: own.SK, Last: own.SK + "#\U0010FFFF"}
}

// rowsOfNodes are the keys of all nodes of a service.
func rowsOfNodes(pk string) rowstore.Range {
	return rowstore.Range{PK: pk, First: nodePrefix, Last: nodePrefix + "\U0010FFFF"}
}

// leave marks a row. It is not deleted: what a session holds depends on its row, and a heartbeat
// that was never answered could make a deleted row again, while it cannot be applied to one with
// another rev.
//
// Where a session with so much left leaves, the requests are bounded by its ttl: its heartbeats wait.
func (s *Store) leave(ctx context.Context, k rowstore.Key, ttl, left time.Duration) error {
	done, err := rowstore.Change[memberRow]{
		Key: k, Cache: s.members, Decode: decodeMember, Start: rowstore.Always[memberRow], Hidden: rowstore.AnyRow[memberRow],
		TTL: ttl, Budget: s.rows.First(ttl, left),
		Propose: func(seen rowstore.Known[memberRow], at rowstore.Moment) (rowstore.Proposal[memberRow], error) {
			row := seen.Row
			if len(seen.Pending) == 0 && (row.rev == "" || row.left > 0) {
				return rowstore.Proposal[memberRow]{}, nil
			}
			if row.session == "" {
				row = absent(k, at)
			}
			row.left = at.Latest()
			return rowstore.Write(row), nil
		},
	}.Do(ctx, s.rows)
	if err == nil && done.Applied != nil {
		s.members.Keep(k, done.Known, done.Applied.At)
	}
	return err
}

// absent returns the row of a node, or of a session, that is no member.
func absent(k rowstore.Key, at rowstore.Moment) memberRow {
	row := memberRow{key: k, address: "-", exp: 1, ttl: cleanup(at.Latest(), memberRetention)}
	name := k.SK[len(nodePrefix):]
	row.node, _, _ = strings.Cut(name, "#")
	if name != row.node {
		row.session, row.opened = name, at.Latest()
	}
	return row
}
