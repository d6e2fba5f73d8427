package dynamolease

import (
	"context"
	"strings"
	"time"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// Drain has a node of a service hand everything over and take nothing, for operators, until
// [Store.Undrain]. The order names the node, whether it is there or not, and outlives restarts. It
// goes 30 days after the node, as a member, last read the members itself. [Store.Members] shows the
// order ([Member.Drained]), and coordinators follow it in their next round: the node's partitions
// move to the others as when it stops, but it stays a member, and its session lives on. If all nodes
// are drained nobody works. Drain ends no lease: nodes that use the store without a coordinator have
// to look for themselves.
//
// It is one read and one write. The error wraps [ErrUnknownOutcome] when it is unknown whether it
// was written. Other errors: [ArgumentError], [RowError], [SetupError], the context's, or the
// SDK's, after retries for at most 10 seconds.
func (s *Store) Drain(ctx context.Context, service, node string) error {
	return s.explain(s.setDrained(ctx, service, node, true), "drain node %q of service %q", node, service)
}

// Undrain ends what [Store.Drain] began: the node has its share again from its next round on. A
// node that is not drained is no error. Costs and errors are those of Drain.
func (s *Store) Undrain(ctx context.Context, service, node string) error {
	return s.explain(s.setDrained(ctx, service, node, false), "undrain node %q of service %q", node, service)
}

// Drained lists the names that are drained in a service, in order, whether a node of that name is
// there or not. It is one strongly consistent Query of these orders alone. A malformed row is a
// [RowError], one for each joined; it comes with the names that could be read. The other errors are
// those of [Store.Members].
func (s *Store) Drained(ctx context.Context, service string) (nodes []string, err error) {
	if err := checkName("service", service); err != nil {
		return nil, s.explain(err, "read drained nodes")
	}
	orders := rowstore.Range{PK: memberPrefix + service, First: drainPrefix, Last: drainPrefix + "\U0010FFFF"}
	found, _, err := rowstore.Query(ctx, s.rows, orders, nil, 0, rowstore.Tolerant(decodeDrain))
	if err != nil {
		return nil, s.explain(err, "read drained nodes of %s", service)
	}
	rows, _, malformed := rowstore.Sift(found)
	for _, row := range rows {
		if row.on {
			nodes = append(nodes, row.node)
		}
	}
	return nodes, s.explain(malformed, "read drained nodes of %s", service)
}

func (s *Store) setDrained(ctx context.Context, service, node string, on bool) error {
	if err := firstError(checkName("service", service), checkNode("node", node)); err != nil {
		return err
	}
	k := drainKey(service, node)
	_, err := rowstore.Change[drainRow]{
		Key: k, Decode: decodeDrain, Hidden: rowstore.AnyRow[drainRow],
		// It writes in any case, so that a request still on its way, also of another process, does not
		// have the last word.
		Propose: func(_ rowstore.Known[drainRow], at rowstore.Moment) (rowstore.Proposal[drainRow], error) {
			next := drainRow{key: k, node: node, on: on}
			return rowstore.Write(next.dated(at)), nil
		},
	}.Do(ctx, s.rows)
	return err
}

const (
	// drainRetention is how long an order to drain stays after the node was last there.
	drainRetention = 30 * 24 * time.Hour
	// drainRefresh is after which time the order of a node that is there is dated anew.
	drainRefresh = 24 * time.Hour
)

func drainKey(service, node string) rowstore.Key {
	return rowstore.Key{PK: memberPrefix + service, SK: drainPrefix + node}
}

// A drainRow says that a node is drained, or was.
type drainRow struct {
	key  rowstore.Key
	node string
	on   bool
	ttl  int64 // 0 for an order that has none, as former versions wrote it
	rev  string
}

// dated returns the row with its ttl. One that has ended stays for a while, too: a deleted one could
// come back with a late request.
func (r drainRow) dated(at rowstore.Moment) drainRow {
	retention := memberRetention
	if r.on {
		retention = drainRetention
	}
	r.ttl = cleanup(at.Latest(), retention)
	return r
}

// stale reports whether an order must be dated anew.
func (r drainRow) stale(at rowstore.Moment) bool {
	return r.on && r.ttl < cleanup(at.Latest(), drainRetention-drainRefresh)
}

func decodeDrain(row rowstore.Item) (drainRow, error) {
	d := decode(row)
	drain := drainRow{key: d.Key, node: d.Text(attrNode), rev: d.Text(rowstore.AttrRev)}
	if d.Has(attrDrained) {
		drain.on = d.Positive(attrDrained) > 0
	}
	if d.Has(attrTTL) {
		drain.ttl = d.Positive(attrTTL)
	}
	if drainPrefix+drain.node != d.Key.SK {
		d.Fail(attrNode, "is not the node of the key")
	}
	return drain, d.Err
}

// Rev returns the row's rev.
func (r drainRow) Rev() string { return r.rev }

// WithRev returns the row with another rev.
func (r drainRow) WithRev(rev string) drainRow {
	r.rev = rev
	return r
}

// Supersedes is always true: the latest order counts.
func (r drainRow) Supersedes(drainRow) bool { return true }

// Requires returns nothing: all that the row holds changes with its rev.
func (r drainRow) Requires() []rowstore.Attribute { return nil }

// Attributes returns the whole row, without its key.
func (r drainRow) Attributes() []rowstore.Attribute {
	list := []rowstore.Attribute{
		{Name: attrNode, Value: rowstore.Text(r.node)}, {Name: rowstore.AttrRev, Value: rowstore.Text(r.rev)},
		{Name: attrDrained}, {Name: attrTTL},
	}
	if r.on {
		list[2].Value = rowstore.Number[int64](1)
	}
	if r.ttl > 0 {
		list[3].Value = rowstore.Number(r.ttl)
	}
	return list
}

// A serviceRow is one row of a service: of a node, or of an operator's order about one.
type serviceRow struct {
	member memberRow
	drain  drainRow
}

func decodeService(row rowstore.Item) (found serviceRow, err error) {
	if strings.HasPrefix(decode(row).Key.SK, drainPrefix) {
		found.drain, err = decodeDrain(row)
	} else {
		found.member, err = decodeMember(row)
	}
	return found, err
}
