package history

import (
	"slices"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A belief is a lease that a node may still count on: as long as it has something left by the node's own clock.
type belief struct {
	node  *node
	lease dynamolease.Lease
}

// believe notes a lease that a node was just given or told to have kept. No other may count on one of the partition.
// Two beliefs that ever overlap do so when the later of them begins, so this is the moment to look.
func (w *world) believe(n *node, lease dynamolease.Lease) {
	w.mu.Lock()
	p := lease.Partition
	w.beliefs[p] = slices.DeleteFunc(w.beliefs[p], func(b *belief) bool { return b.lease.Remaining() == 0 })
	b := &belief{n, lease}
	if lease.Remaining() > 0 {
		w.beliefs[p] = append(w.beliefs[p], b)
	}
	w.mu.Unlock()
	w.audit()
}

// forget notes that a node does not count on its leases of a partition any more.
func (w *world) forget(n *node, partition int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.beliefs[partition] = slices.DeleteFunc(w.beliefs[partition], func(b *belief) bool { return b.node == n })
}

// audit expects that one node at most counts on each partition, and that it has it in the table.
func (w *world) audit() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for p, list := range w.beliefs {
		r := w.db.row(leaseRowKey(group, p))
		var first *belief
		for _, b := range list {
			if b.lease.Remaining() == 0 {
				continue
			}
			if first != nil && first.node != b.node {
				w.problems = append(w.problems, "two count on one lease: "+leaseText(first.lease)+" and "+leaseText(b.lease))
			}
			first = b
			if r.text("owner") != b.lease.Owner || r.number("epoch") != b.lease.Epoch || r.text("session") != b.lease.Session {
				w.problems = append(w.problems, "counted on for "+b.lease.Remaining().String()+", and not held: "+leaseText(b.lease)+"; the row is "+r.String())
			}
			w.auditOrder(b, r)
		}
	}
}
