package dynamolease

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// Consistency is how a [Look] reads.
type Consistency int

const (
	// Consistent reads all that was written before.
	Consistent Consistency = iota
	// Eventual reads for half the units. What was just written may be missing, or be there as it was
	// before; most of it is there within a second. It is for a look that decides nothing by absence, and
	// is followed by conditional writes.
	Eventual
)

// A Look is the members of a service as one reading found them, and what is read on top of that: the
// leases of groups, judged by these members, and acquisitions, written on top of the rows that it saw.
// It costs less than [Store.Members], [Store.Owners] and [Store.Acquire] together, which read the
// members and the rows again. Make another one after a moment: it does not change.
//
// It is safe for concurrent use.
type Look struct {
	store            *Store
	members, leaving []Member
	sessions         sessionRows // of the service
	next             time.Duration
	groups           seenGroups
}

// Look reads the members of a service. It is one Query, however many groups there are. The errors are
// those of [Store.Members]: a malformed row is a [RowError], which comes with a look at all others.
func (s *Store) Look(ctx context.Context, service string, c Consistency) (*Look, error) {
	if err := checkName("service", service); err != nil {
		return nil, s.explain(err, "read members")
	}
	everything := rowstore.Range{PK: memberPrefix + service, Eventual: c == Eventual}
	found, err := rowstore.QueryNow(ctx, s.rows, everything, nil, 0, rowstore.Tolerant(decodeService))
	if err != nil {
		return nil, s.explain(err, "read members of %s", service)
	}
	rows, broken, malformed := rowstore.Sift(found.Rows)
	s.refreshDrains(ctx, rows, found.At)
	l := &Look{
		store: s, next: MaxTTL,
		sessions: sessionRows{make(map[rowstore.Key]memberRow), make(map[rowstore.Key]bool), broken},
		groups:   newSeenGroups(),
	}
	l.judge(rows, found.At)
	return l, s.explain(malformed, "read members of %s", service)
}

// Members returns the live members of a service, in node order (by bytes), each with the groups it
// takes part in. It is one strongly consistent Query, however many groups there are.
//
// A malformed row is a [RowError], one for each joined; it comes with the members that could be
// read. Other errors, without any member: [ArgumentError], [SetupError], the context's, or the
// SDK's, after retries for at most 10 seconds a page.
func (s *Store) Members(ctx context.Context, service string) ([]Member, error) {
	look, err := s.Look(ctx, service, Consistent)
	if look == nil {
		return nil, err
	}
	return look.Members(), err
}

// Members returns the live members, as [Store.Members] does.
func (l *Look) Members() []Member { return slices.Clone(l.members) }

// Leaving returns the sessions that live on beside the members: those of nodes that have left
// and keep their leases until their work has ended, and those of former processes of a node.
func (l *Look) Leaving() []Member { return slices.Clone(l.leaving) }

// Next returns after what time, from when the look began, another one could find that a session is
// over: when it becomes certain of the first of them, unless that sends a heartbeat before. It is at
// most a year.
func (l *Look) Next() time.Duration { return l.next }

// judge sorts the rows: each node is listed once, by the live row of its newest process. A node that restarted
// has another session, and that one says where the node is found.
func (l *Look) judge(rows []serviceRow, at rowstore.Moment) {
	latest := make(map[string]memberRow)
	drained := make(map[string]bool)
	for _, found := range rows {
		drained[found.drain.node] = found.drain.on
		row := found.member
		if row.session != "" {
			l.sessions.seen[row.key] = true
		}
		if !l.store.alive(row, at) {
			continue
		}
		l.next = min(l.next, l.store.certain(row, at))
		l.sessions.alive[row.key] = row
		former, ok := latest[row.node]
		switch {
		case row.left > 0, ok && former.newer(row):
			l.leave(row)
		case ok:
			l.leave(former)
			fallthrough
		default:
			latest[row.node] = row
		}
	}
	for _, node := range slices.Sorted(maps.Keys(latest)) {
		member := latest[node].member()
		member.Drained = drained[node]
		l.members = append(l.members, member)
	}
}

func (l *Look) leave(row memberRow) {
	if row.session != "" {
		l.leaving = append(l.leaving, row.member())
	}
}
