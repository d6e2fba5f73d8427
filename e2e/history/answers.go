package history

import (
	"errors"
	"slices"
	"strings"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// inspectTruth expects that the writes of a call agree with its answer. A call that returns an
// error other than ErrUnknownOutcome or ErrSessionLost has written nothing. No call does its work
// twice.
func (w *world) inspectTruth(c *call) {
	items, done, orders, ranOut := make(map[*delivery]bool), 0, 0, false
	for _, ch := range w.db.changes {
		if ch.call != c || ch.sent > c.to || ch.closes() && c.what != closeSession {
			continue // a dead session may be closed whatever becomes of the call
		}
		switch {
		case strings.HasPrefix(ch.key.pk, "W#"):
			items[ch.delivery] = true
		case strings.HasPrefix(ch.key.pk, "L#") && w.tellsHolder(ch) && !w.rewritten(ch):
			done++
			ranOut = w.ranOut(c, ch)
		}
		orders++
	}
	if c.unknown() && !c.asked() {
		w.problem("the call sent nothing, and its outcome is unknown: %v", c)
	}
	silent := c.err != nil && !c.unknown() && !errors.Is(c.err, dynamolease.ErrSessionLost) && !c.tooLate()
	switch c.what {
	case acquire, acquireAll, acquireSession, release, releaseSession:
		if done > 0 && (silent || c.err == nil && !c.yes && !ranOut) {
			w.problem("the call changed the holder, and its answer says otherwise: %v", c)
		}
	case revoke, drain, undrain:
		if silent && orders > 0 {
			w.problem("the call wrote, and its error says that it did not: %v", c)
		}
	case transact:
		wrong := len(items) > 1 || c.yes && len(items) != 1 || silent && len(items) > 0
		if wrong {
			w.problem("the call did its work %d times: %v", len(items), c)
		}
	}
}

// rewritten reports whether the row changed again before the call ended: another call of the same
// owner wrote it next, or an operator revoked the lease. In the first case the call could no longer
// recognise its own write, and in the second it must not count on the lease.
func (w *world) rewritten(ch *change) bool {
	next := true
	for _, later := range w.db.changes {
		if later.key != ch.key || later.seq <= ch.seq || later.seq > ch.call.to {
			continue
		}
		if later.call.what == revoke || next && later.call != ch.call && later.call.owner == ch.call.owner {
			return true
		}
		next = next && later.call == ch.call
	}
	return false
}

// ranOut reports whether a change freed a lease that expired before the end of the call, or whose
// session was over by then. Then it is also true that the call found no lease to release.
func (w *world) ranOut(c *call, ch *change) bool {
	return c.what == releaseSession && c.over || c.what == release && ch.after.text("owner") == "" && ch.before.number("exp") <= w.latest(c.ended)
}

// tellsHolder reports whether a change replaced or removed the holder.
func (w *world) tellsHolder(ch *change) bool {
	return ch.after.text("owner") != ch.before.text("owner") || ch.after.text("session") != ch.before.text("session")
}

// inspectLoss expects that no answer reports a lease as lost if the caller held it, live, during
// the whole call.
func (w *world) inspectLoss(lines map[rowKey]timeline, c *call) {
	for _, p := range c.partitions {
		told, _ := answer(c, p, false)
		if told != lost && told != leftOut && told != refused {
			continue
		}
		his := func(r row) bool {
			if told == refused {
				return r.text("owner") == c.owner && r.number("epoch") == c.under.Epoch
			}
			if told == leftOut && r.number("revoked") > 0 {
				return false
			}
			exp := r.number("exp")
			if session := r.session(); session != (rowKey{}) {
				exp = lines[session].at(c.from).number("exp")
			}
			return r.text("owner") == c.owner && r.text("session") == c.session && exp > w.latest(c.ended)
		}
		if rows := lines[leaseRowKey(group, p)].between(c.from, c.to); !slices.ContainsFunc(rows, func(r row) bool { return !his(r) }) {
			w.problem("the answer says that the lease is lost, and the caller held it all the time: %v", c)
		}
	}
}

// inspectMembers expects that each listed member existed, as the answer lists it, at some time
// during the call. It also expects that the answer lists each node that was a member during the
// whole call.
func (w *world) inspectMembers(lines map[rowKey]timeline, c *call) {
	if c.what != members || c.err != nil {
		return
	}
	listed := make(map[string]bool)
	for _, m := range c.members {
		listed[m.Node] = true
		name := m.Node
		if m.Session != "" {
			name = m.Session
		}
		was := func(r row) bool {
			return r.text("address") == m.Address && r.number("exp") == m.ExpiresAt.UnixMilli() && r.number("left") == 0 && r.number("signals") == m.Signals &&
				slices.Equal(r.texts("groups"), m.Groups) && (w.vague() || r.number("exp") > w.earliest(c.began)-uncertainty ||
				m.Session != "" && w.sessions().live(m.Session, w.earliest(c.began), w.latest(c.ended)))
		}
		if !slices.ContainsFunc(lines[rowKey{"M#" + service, "N#" + name}].between(c.from, c.to), was) {
			w.problem("the answer lists %s as a member that it never was: %v", m.Node, c)
		}
	}
	for k, line := range lines {
		is := func(r row) bool { return r.number("left") == 0 && r.number("exp") > w.latest(c.ended) }
		rows := line.between(c.from, c.to)
		if k.pk == "M#"+service && !line.ended(c.from, c.to, w.latest(c.ended)) && !listed[rows[0].text("node")] && !slices.ContainsFunc(rows, func(r row) bool { return !is(r) }) {
			w.problem("%s was a member all the time, and the answer does not list it: %v", rows[0].text("node"), c)
		}
	}
}
