package history

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// The name under which leases are revoked: that of nobody who holds one.
const operatorName = "operator"

// An order is a lease that is to be given up.
type order struct {
	partition int
	epoch     int64
}

// inSession is the order as it stands in the row of a session.
func (o order) inSession() string {
	k := leaseRowKey(group, o.partition)
	return fmt.Sprintf("%d %s %s", o.epoch, k.sk, k.pk)
}

// revoke asks once for the lease that a partition has, or for one that it had.
func (n *node) revoke(p plan) {
	life, _, _ := n.process()
	if o := n.chosen(p); o.epoch > 0 {
		n.demand(life, o, p.patience)
	}
}

// insist asks again and again, until it is done or who holds the lease has had the time.
func (n *node) insist(ctx context.Context, p plan) {
	o := n.chosen(p)
	for range 3 + p.coin/5 {
		if o.epoch == 0 || n.demand(context.WithoutCancel(ctx), o, p.patience) || !pause(ctx, p.rest+leaseTTL/20) {
			return
		}
	}
}

// chosen is a lease as an operator would find it in the table, sometimes one of before.
func (n *node) chosen(p plan) order {
	epoch := n.w.db.row(leaseRowKey(group, p.partition)).number("epoch")
	if p.coin%5 == 0 {
		epoch--
	}
	return order{p.partition, epoch}
}

// demand revokes a lease, and reports whether that is done: nobody counts on it any more then.
func (n *node) demand(life context.Context, o order, patience time.Duration) bool {
	_, store, _ := n.process()
	c := &call{what: revoke, owner: operatorName, partitions: []int{o.partition}, under: dynamolease.Lease{Partition: o.partition, Epoch: o.epoch}}
	n.w.order(o)
	n.do(c, life, patience, func(ctx context.Context) {
		var lease dynamolease.Lease
		if lease, c.yes, c.err = store.Revoke(ctx, group, o.partition, o.epoch); c.err == nil {
			c.leases[o.partition] = lease
		}
	})
	if c.yes {
		n.w.auditRevoked(c, o)
	}
	return c.yes
}

// obey gives up a lease that the node has learned to be revoked, sooner or later, and reports whether it did.
func (n *node) obey(p plan) bool {
	n.mu.Lock()
	h := n.leases[p.partition]
	n.mu.Unlock()
	if p.coin >= 40 || h == nil || !n.leaseOf(h).Revoked() {
		return false
	}
	n.release(p)
	return true
}

// left is how much each of the node's leases has left.
func (n *node) left() map[*dynamolease.Lease]time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	left := make(map[*dynamolease.Lease]time.Duration)
	for _, h := range n.leases {
		lease := h.lease
		left[&lease] = lease.Remaining()
	}
	return left
}

// order notes that somebody asks for a lease to be given up.
func (w *world) order(o order) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ordered[o] = true
}

// auditRevoked expects that nobody counts on a lease that was said to be revoked.
func (w *world) auditRevoked(c *call, o order) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, b := range w.beliefs[o.partition] {
		if left := b.lease.Remaining(); b.lease.Epoch == o.epoch && left > 0 {
			w.problems = append(w.problems, fmt.Sprintf("revoked, and %s has %v left of it: %v", b.node.name, left, c))
		}
	}
}

// auditOrder expects that a process knows of an order that its heartbeat has taken out of its session's row, and of none
// that nobody gave. The caller has the mutex.
func (w *world) auditOrder(b *belief, r row) {
	o := order{b.lease.Partition, b.lease.Epoch}
	if b.lease.Revoked() && !w.ordered[o] {
		w.problems = append(w.problems, "revoked by nobody: "+leaseText(b.lease))
	}
	pending := func() bool { return slices.Contains(w.db.row(r.session()).texts("revoked"), o.inSession()) }
	if b.lease.Session != "" && r.number("revoked") > 0 && !pending() && !b.lease.Revoked() {
		w.problems = append(w.problems, "revoked, and its process does not know: "+leaseText(b.lease)+"; the row is "+r.String())
	}
}

// inspectRevocation expects that an operator takes what is over, and marks what is not, of the epoch that was asked for.
func (w *world) inspectRevocation(lines map[rowKey]timeline, ch *change) {
	before, after, epoch := ch.before, ch.after, ch.before.number("epoch")
	same := after.text("owner") == before.text("owner") && after.text("session") == before.text("session") &&
		after.number("epoch") == epoch && after.number("exp") == before.number("exp")
	switch {
	case ch.bare(), same && before.text("owner") == "" && epoch == ch.call.under.Epoch+1: // as it has left it already
	case before.text("owner") == "" || epoch != ch.call.under.Epoch:
		w.problem("revoked under epoch %d: %v", ch.call.under.Epoch, ch)
	case same && after.number("revoked") > 0:
	case after.text("owner") != "" || after.number("epoch") != epoch+1:
		w.problem("revoked, and another has it, or the epoch did not grow by one: %v", ch)
	case !w.over(lines, ch):
		w.problem("a live lease was taken by an operator: %v", ch)
	}
}

// inspectOrders expects that operators write nothing but orders into the rows of sessions, and that only the session takes
// them out.
func (w *world) inspectOrders(line timeline) {
	given := make(map[string]bool)
	for _, ch := range line {
		before, after := ch.before.texts("revoked"), ch.after.texts("revoked")
		o := order{epoch: ch.call.under.Epoch}
		if len(ch.call.partitions) > 0 {
			o.partition = ch.call.partitions[0]
		}
		switch {
		case ch.bare():
		case ch.call.what == revoke:
			if ch.before == nil || ch.after.number("exp") != ch.before.number("exp") || !slices.Equal(after, append(slices.Clone(before), o.inSession())) {
				w.problem("an operator wrote more than an order into a session: %v", ch)
			}
		case len(before) > 0 && len(after) == 0 && ch.after != nil && ch.call.what != beatSession:
			w.problem("orders were taken out by another: %v", ch)
		case ch.call.what == beatSession && len(after) > 0:
			w.problem("a heartbeat left orders that it has learned of: %v", ch)
		case slices.ContainsFunc(after, func(text string) bool { return !given[text] }):
			w.problem("an order by nobody: %v", ch)
		}
		for _, text := range after { // the session may put one back that a heartbeat without an answer took out
			given[text] = true
		}
	}
}
