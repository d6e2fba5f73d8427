package history

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// operatorName is the name of the operator in calls. No holder of a lease has this name.
const operatorName = "operator"

// An order tells the holder of a lease to give it up.
type order struct {
	partition int
	epoch     int64
}

// inSession returns the order in its form in the row of a session.
func (o order) inSession() string {
	k := leaseRowKey(group, o.partition)
	return fmt.Sprintf("%d %s %s", o.epoch, k.sk, k.pk)
}

// revoke revokes, with one call, the present lease of a partition or an earlier one.
func (n *node) revoke(p plan) {
	life, _, _ := n.process()
	if o := n.chosen(p); o.epoch > 0 {
		n.demand(life, o, p.patience)
	}
}

// insist repeats Revoke until the lease is over, or until its holder has had enough time.
func (n *node) insist(ctx context.Context, p plan) {
	o := n.chosen(p)
	for range 3 + p.coin/5 {
		if o.epoch == 0 || n.demand(context.WithoutCancel(ctx), o, p.patience) || !pause(ctx, p.rest+leaseTTL/20) {
			return
		}
	}
}

// chosen returns the lease that an operator finds in the table, or sometimes an earlier one.
func (n *node) chosen(p plan) order {
	epoch := n.w.db.row(leaseRowKey(group, p.partition)).number("epoch")
	if p.coin%5 == 0 {
		epoch--
	}
	return order{p.partition, epoch}
}

// demand revokes a lease, and reports whether it is over: nobody believes in it any more.
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
		n.w.checkRevoked(c, o)
	}
	return c.yes
}

// obey releases a lease that the node knows to be revoked, sooner or later. It reports whether it
// did.
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

// left returns how much time each of the node's leases has left.
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

// order notes that an operator revokes a lease.
func (w *world) order(o order) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ordered[o] = true
}

// checkRevoked expects that nobody believes in a lease after Revoke reported it as over.
func (w *world) checkRevoked(c *call, o order) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, b := range w.beliefs[o.partition] {
		if left := b.lease.Remaining(); b.lease.Epoch == o.epoch && left > 0 && !w.robbed(b) {
			w.problems = append(w.problems, fmt.Sprintf("Revoke reported the lease as over, and %s has %v left of it: %v", b.node.name, left, c))
		}
	}
}

// checkOrder expects that a process knows an order after its heartbeat removed it from its
// session's row, and that it knows no order that nobody gave. The caller has the mutex.
func (w *world) checkOrder(b *belief, r row) {
	o := order{b.lease.Partition, b.lease.Epoch}
	if b.lease.Revoked() && !w.ordered[o] {
		w.problems = append(w.problems, "a process takes its lease for revoked, and nobody revoked it: "+leaseText(b.lease))
	}
	pending := func() bool { return slices.Contains(w.db.row(r.session()).texts("revoked"), o.inSession()) }
	if b.lease.Session != "" && r.number("revoked") > 0 && !pending() && !b.lease.Revoked() {
		w.problems = append(w.problems, "the lease is revoked, and its process does not know: "+leaseText(b.lease)+"; the row is "+r.String())
	}
}

// inspectRevocation expects that an operator takes a lease that is over, marks one that is not, and
// changes only the lease of the epoch in the call.
func (w *world) inspectRevocation(lines map[rowKey]timeline, ch *change) {
	before, after, epoch := ch.before, ch.after, ch.before.number("epoch")
	same := after.text("owner") == before.text("owner") && after.text("session") == before.text("session") &&
		after.number("epoch") == epoch && after.number("exp") == before.number("exp")
	switch {
	case ch.bare(), same && before.text("owner") == "" && epoch == ch.call.under.Epoch+1: // an earlier attempt of the call took it already
	case before.text("owner") == "" || epoch != ch.call.under.Epoch:
		w.problem("a call to revoke epoch %d changed a lease of another epoch, or a free one: %v", ch.call.under.Epoch, ch)
	case same && after.number("revoked") > 0:
	case after.text("owner") != "" || after.number("epoch") != epoch+1:
		w.problem("a call to revoke gave the lease to an owner, or the epoch did not grow by one: %v", ch)
	case !w.over(lines, ch):
		w.problem("an operator took a live lease: %v", ch)
	}
}

// inspectOrders expects that operators write only orders into the rows of sessions, and that only a
// heartbeat of the session removes them.
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
		case ch.closes(): // nobody heeds its orders any more
		case ch.call.what == revoke:
			if ch.before == nil || ch.after.number("exp") != ch.before.number("exp") || !slices.Equal(after, append(slices.Clone(before), o.inSession())) {
				w.problem("an operator wrote more than an order into a session: %v", ch)
			}
		case len(before) > 0 && len(after) == 0 && ch.after != nil && ch.call.what != beatSession:
			w.problem("a call other than the session's heartbeat removed orders: %v", ch)
		case ch.call.what == beatSession && len(after) > 0:
			w.problem("a heartbeat left orders in the row of its session: %v", ch)
		case slices.ContainsFunc(after, func(text string) bool { return !given[text] }):
			w.problem("a session has an order that no operator gave: %v", ch)
		}
		for _, text := range after { // the session may put back an order that a heartbeat without an answer removed
			given[text] = true
		}
	}
}
