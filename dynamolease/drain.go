package dynamolease

import (
	"context"
	"strings"
)

// Drain has a node of a service hand everything over and take nothing, for operators, until [Store.Undrain]. It is about the
// node's name, whether the node is there or not, and outlives restarts. [Store.Members] says so ([Member.Drained]), and
// coordinators go by that in their next round: the node's partitions move to the others as when it stops, but it stays a
// member, and its session lives on. Where all nodes are drained nobody works. It ends no lease: nodes that use the store
// without a coordinator have to look for themselves.
//
// It is one read and one write. The error wraps [ErrUnknownOutcome] when nothing tells whether it was written. Other
// errors: [ArgumentError], [RowError], [SetupError], the context's, or the SDK's, after retries for at most 10 seconds.
func (s *Store) Drain(ctx context.Context, service, node string) error {
	return s.explain(s.setDrained(ctx, service, node, true), "drain %s of %s", node, service)
}

// Undrain ends what [Store.Drain] began: the node has its share again from its next round on. A node that is not drained
// is no error. It costs as much, and the errors are the same.
func (s *Store) Undrain(ctx context.Context, service, node string) error {
	return s.explain(s.setDrained(ctx, service, node, false), "undrain %s of %s", node, service)
}

// Drained lists the names that are drained in a service, in order, whether a node of that name is there or not. It is one
// strongly consistent Query of these orders alone. A malformed row is a [RowError], one for each joined; it comes
// with the names that could be read. The other errors are those of [Store.Members].
func (s *Store) Drained(ctx context.Context, service string) (nodes []string, err error) {
	if err := checkName("service", service); err != nil {
		return nil, s.explain(err, "read drained nodes")
	}
	orders := rowRange{memberPrefix + service, drainPrefix, drainPrefix + "\U0010FFFF"}
	found, _, err := query(ctx, s, orders, nil, 0, tolerant(decodeDrain))
	if err != nil {
		return nil, s.explain(err, "read drained nodes of %s", service)
	}
	rows, _, malformed := sift(found)
	for _, row := range rows {
		if row.on {
			nodes = append(nodes, row.node)
		}
	}
	return nodes, s.explain(malformed, "read drained nodes of %s", service)
}

func (s *Store) setDrained(ctx context.Context, service, node string, on bool) error {
	if err := firstError(checkName("service", service), checkNode(node)); err != nil {
		return err
	}
	k := key{memberPrefix + service, drainPrefix + node}
	never := func(drainRow, int64) bool { return false }
	_, err := settle(ctx, s, change[drainRow]{
		key: k, rows: newMemory(never), decode: decodeDrain, hidden: anyRow[drainRow],
		start: func(sighting[drainRow], moment) bool { return false },
		// It writes in any case: what is still on its way, of another process too, is not to have the last word.
		propose: func(_ sighting[drainRow], at moment) (proposal[drainRow], error) {
			next := drainRow{key: k, node: node, on: on}
			if !on { // the row stays for a while: one that is deleted could come back with a late request
				next.ttl = cleanup(at.latest(), memberRetention)
			}
			return proposal[drainRow]{action: write, next: next}, nil
		},
	})
	return err
}

// A drainRow says that a node is drained, or was.
type drainRow struct {
	key  key
	node string
	on   bool
	ttl  int64 // of one that was
	rev  string
}

func decodeDrain(row item) (drainRow, error) {
	d := decode(row)
	drain := drainRow{key: d.key, node: d.text(attrNode), rev: d.text(attrRev)}
	if d.has(attrDrained) {
		drain.on = d.positive(attrDrained) > 0
	}
	if d.has(attrTTL) {
		drain.ttl = d.positive(attrTTL)
	}
	if drainPrefix+drain.node != d.key.sk {
		d.fail(attrNode, "is not the node of the key")
	}
	return drain, d.err
}

func (r drainRow) revision() string { return r.rev }

func (r drainRow) supersedes(drainRow) bool { return true }

func (r drainRow) revised(rev string) drainRow {
	r.rev = rev
	return r
}

func (r drainRow) attributes() []attribute {
	list := []attribute{{attrNode, stringValue(r.node)}, {attrRev, stringValue(r.rev)}, {attrDrained, nil}, {attrTTL, nil}}
	if r.on {
		list[2].value = numberValue(1)
	}
	if r.ttl > 0 {
		list[3].value = numberValue(r.ttl)
	}
	return list
}

// A serviceRow is one row of a service: of a node, or of what operators said about one.
type serviceRow struct {
	member memberRow
	drain  drainRow
}

func decodeService(row item) (found serviceRow, err error) {
	if strings.HasPrefix(decode(row).key.sk, drainPrefix) {
		found.drain, err = decodeDrain(row)
	} else {
		found.member, err = decodeMember(row)
	}
	return found, err
}
