package history

import (
	"slices"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A belief is a lease in which a node still believes: it has time left by the node's own clock.
type belief struct {
	node  *node
	lease dynamolease.Lease
}

// believe notes a lease that a node has just acquired or renewed. No other node may believe in a
// lease of the partition. Two beliefs that ever overlap do so when the later of them begins, so
// this is the moment to check. Two processes under one owner name must not count on their beliefs.
func (w *world) believe(n *node, lease dynamolease.Lease) {
	if w.shared && lease.Owner == "n0" && lease.Session == "" {
		return
	}
	w.mu.Lock()
	p := lease.Partition
	w.beliefs[p] = slices.DeleteFunc(w.beliefs[p], func(b *belief) bool { return b.lease.Remaining() == 0 })
	b := &belief{n, lease}
	if lease.Remaining() > 0 {
		w.beliefs[p] = append(w.beliefs[p], b)
	}
	w.mu.Unlock()
	w.checkBeliefs()
}

// forget notes that a node no longer believes in its leases of a partition.
func (w *world) forget(n *node, partition int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.beliefs[partition] = slices.DeleteFunc(w.beliefs[partition], func(b *belief) bool { return b.node == n })
}

// checkBeliefs expects that at most one node believes in each partition, and that the table has
// this node as the owner.
func (w *world) checkBeliefs() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problems = append(w.problems, w.db.lives.back()...)
	for p, list := range w.beliefs {
		r := w.db.row(leaseRowKey(group, p))
		var first *belief
		for _, b := range list {
			if b.lease.Remaining() == 0 || w.robbed(b) {
				continue
			}
			if first != nil && first.node != b.node {
				w.problems = append(w.problems, "two nodes believe in one lease: "+leaseText(first.lease)+" and "+leaseText(b.lease))
			}
			first = b
			if r.text("owner") != b.lease.Owner || r.number("epoch") != b.lease.Epoch || r.text("session") != b.lease.Session {
				w.problems = append(w.problems, "a node believes for "+b.lease.Remaining().String()+" in a lease that it does not hold: "+leaseText(b.lease)+"; the row is "+r.String())
			}
			w.checkOrder(b, r)
		}
	}
}
