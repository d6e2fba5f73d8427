package history

import (
	"context"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// acquireInSession acquires a partition in the node's session, or opens one first.
func (n *node) acquireInSession(p plan) {
	life, _, session := n.process()
	if session == nil || session.Err() != nil {
		n.open(p)
		return
	}
	c := &call{what: acquireSession, partitions: []int{p.partition}, session: session.ID(), ttl: leaseTTL}
	done := n.take(p.partition)
	n.do(c, life, p.patience, func(ctx context.Context) {
		var lease dynamolease.Lease
		lease, c.yes, c.err = session.Acquire(ctx, group, p.partition)
		if c.err == nil {
			c.leases[p.partition] = lease
		}
	})
	done()
	n.acquired(c)
}

// open opens a session in place of one that is over. The leases of the former session are over,
// too.
func (n *node) open(p plan) {
	life, store, former := n.process()
	if former != nil {
		for partition := range partitions {
			n.lose(partition)
		}
	}
	c := &call{what: openSession, ttl: leaseTTL}
	var session *dynamolease.Session
	n.do(c, life, p.patience, func(ctx context.Context) {
		session, c.err = store.OpenSession(ctx, dynamolease.Node{Service: service, Name: n.name, Address: address(p), Groups: []string{group}}, leaseTTL)
		c.yes = c.err == nil
		if c.yes {
			c.session = session.ID()
		}
	})
	if c.err == nil {
		n.w.db.lives.born(session)
		n.w.inTable(c, session)
		n.mu.Lock()
		n.session = session
		n.mu.Unlock()
	}
}

// beat sends the session's heartbeat.
func (n *node) beat(p plan) {
	life, _, session := n.process()
	if session == nil {
		return
	}
	before := n.left()
	c := &call{what: beatSession, session: session.ID(), ttl: leaseTTL}
	n.do(c, life, p.patience, func(ctx context.Context) {
		least := n.signal(session, p.coin < 20)
		var member dynamolease.Member
		if member, c.err = session.Heartbeat(ctx); c.err == nil {
			if member.Signals < least {
				n.w.problem("the member has %d signals, and its node sent at least %d: %v", member.Signals, least, c)
			}
			c.yes, c.members = true, []dynamolease.Member{member}
		}
		c.over = session.Err() != nil
	})
	if c.yes {
		n.w.inTable(c, session)
	}
	if session.Err() != nil && session.Remaining() > 0 {
		n.w.problem("the session is over, and has %v left: %v", session.Remaining(), c)
	}
	for lease, left := range before {
		if lease.Revoked() && lease.Remaining() > left {
			n.w.problem("a revoked lease had %v left, and now has %v: %s", left, lease.Remaining(), leaseText(*lease))
		}
	}
	n.w.checkBeliefs()
}

// lastWords sends a heartbeat that arrives when the session is about to be taken for dead. The
// process is cut off, and ends before that.
func (n *node) lastWords(p plan) {
	if _, _, session := n.process(); session != nil {
		n.path.sky.isolate(leaseTTL*3/4 + p.length/2)
		p.patience = 5 * quick
		n.beat(p)
	}
}

// pounce waits, where readings take long, until the session that holds a partition is about to be
// known as dead, if that is soon. What was read late is judged then.
func (n *node) pounce(p plan) {
	if session := n.w.db.row(leaseRowKey(group, p.partition)).session(); n.w.remote && session != (rowKey{}) {
		end := time.UnixMilli(n.w.db.row(session).number("exp"))
		if left := time.Until(end) - leaseTTL/10 - leaseTTL*time.Duration(p.coin)/400; left < leaseTTL*2/5 {
			time.Sleep(left)
		}
	}
}

// signal signals if now is true. It returns how often the node has signalled in the session.
func (n *node) signal(session *dynamolease.Session, now bool) int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	if now {
		session.Signal()
		n.signals[session]++
	}
	return n.signals[session]
}

// inTable expects that the row of a session does not expire before the session does on its node.
func (w *world) inTable(c *call, session *dynamolease.Session) {
	k := sessionRowKey(session.ID())
	w.mu.Lock()
	robbed := w.losses[loss{k, 0}]
	w.mu.Unlock()
	if robbed {
		return
	}
	r := w.db.row(k)
	if left := session.Remaining(); left > 0 && r.number("exp") < time.Now().Add(left).UnixMilli() {
		w.problem("the session has %v left, and its row expires earlier: the row is %v: %v", left, r, c)
	}
}

// closeSession closes the session, or leaves the service with it.
func (n *node) closeSession(p plan) {
	life, _, session := n.process()
	if session == nil {
		n.acquire(p)
		return
	}
	c := &call{what: leaveSession, session: session.ID()}
	if p.coin < 70 {
		c.what = closeSession
		for partition := range partitions {
			n.lose(partition)
		}
		defer n.take(0, 1, 2)()
	}
	n.do(c, life, p.patience, func(ctx context.Context) {
		if c.what == closeSession {
			c.err = session.Close(ctx)
		} else {
			c.err = session.Leave(ctx)
		}
		c.yes = c.err == nil
	})
	if c.what == closeSession && session.Remaining() > 0 {
		n.w.problem("the session is closed, and has %v left: %v", session.Remaining(), c)
	}
}

func address(p plan) string { return "10.0.0." + string(rune('0'+p.coin%10)) + ":80" }
