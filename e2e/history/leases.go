package history

import (
	"context"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// acquire acquires one partition. It does so in the session if the node has sessions.
func (n *node) acquire(p plan) {
	if n.joins {
		n.acquireInSession(p)
		return
	}
	life, store, _ := n.process()
	c := &call{what: acquire, partitions: []int{p.partition}, ttl: p.ttl}
	done := n.take(p.partition)
	n.do(c, life, p.patience, func(ctx context.Context) {
		var lease dynamolease.Lease
		lease, c.yes, c.err = store.Acquire(ctx, group, p.partition, n.name, p.ttl)
		if c.err == nil {
			c.leases[p.partition] = lease
		}
	})
	done()
	n.acquired(c)
}

// acquired notes the outcome of an acquisition. It expects that an acquired lease has time left.
func (n *node) acquired(c *call) {
	for _, p := range c.partitions {
		if lease, found := c.leases[p]; found && c.yes {
			if lease.Session == "" && lease.Remaining() == 0 {
				n.w.problem("the lease is acquired, and nothing of it is left: %v", c)
			}
			n.got(lease)
		}
	}
}

// acquireAll acquires two partitions or all in one call. A node with sessions acquires one instead.
func (n *node) acquireAll(p plan) {
	if n.joins {
		n.acquireInSession(p)
		return
	}
	life, store, _ := n.process()
	list := []int{0, 1, 2}
	if p.coin < 70 {
		list = []int{p.partition, (p.partition + 1) % partitions}
	}
	c := &call{what: acquireAll, partitions: list, ttl: p.ttl}
	done := n.take(list...)
	n.do(c, life, p.patience, func(ctx context.Context) {
		var leases []dynamolease.Lease
		leases, c.yes, c.err = store.AcquireAll(ctx, group, list, n.name, p.ttl)
		for _, lease := range leases {
			c.leases[lease.Partition] = lease
		}
	})
	done()
	n.acquired(c)
}

// release releases a partition, whether the node holds it or not. The node stops its work first.
func (n *node) release(p plan) {
	life, store, session := n.process()
	if n.joins && session == nil {
		n.acquireInSession(p)
		return
	}
	done := n.take(p.partition)
	n.w.forget(n, p.partition)
	c := &call{what: release, partitions: []int{p.partition}}
	if n.joins {
		c.what, c.session = releaseSession, session.ID()
	}
	n.do(c, life, p.patience, func(ctx context.Context) {
		if n.joins {
			c.yes, c.err = session.Release(ctx, group, p.partition)
			c.over = session.Err() != nil || session.Remaining() == 0
		} else {
			c.yes, c.err = store.Release(ctx, group, p.partition, n.name)
		}
	})
	done()
	if p.coin < 80 { // otherwise the node goes on as if it still had the lease
		n.lose(p.partition)
	}
}

// renew renews the node's leases of all partitions, or of one.
func (n *node) renew(p plan) {
	life, store, _ := n.process()
	list := []int{0, 1, 2}
	if p.coin < 15 {
		list = []int{p.partition}
	}
	before := n.turns()
	c := &call{what: renew, partitions: list, ttl: p.ttl}
	n.do(c, life, p.patience, func(ctx context.Context) {
		var leases []dynamolease.Lease
		leases, c.err = store.Renew(ctx, group, list, n.name, p.ttl)
		c.yes = c.err == nil
		for _, lease := range leases {
			c.leases[lease.Partition] = lease
		}
	})
	if c.err != nil {
		return
	}
	for _, partition := range list {
		if lease, kept := c.leases[partition]; kept {
			n.kept(lease, before[partition])
		} else {
			n.missed(partition, before[partition])
		}
	}
}

// kept notes a renewed lease, unless the working hand has done something with the partition
// meanwhile. A lease that the hand does not know comes from an acquisition without an answer.
func (n *node) kept(lease dynamolease.Lease, turn int) {
	n.mu.Lock()
	current := n.turn[lease.Partition] == turn
	h := n.leases[lease.Partition]
	switch {
	case !current:
	case h == nil || h.lease.Epoch != lease.Epoch:
		n.leases[lease.Partition] = &holding{lease: lease, uncertain: true}
	default:
		lease.Checkpoint = h.lease.Checkpoint // the working hand knows the latest
		h.lease = lease
	}
	n.mu.Unlock()
	if current {
		n.w.believe(n, lease)
	}
}

// missed notes that the answer to a renewal lacks a lease.
func (n *node) missed(partition, turn int) {
	n.mu.Lock()
	current := n.turn[partition] == turn
	n.mu.Unlock()
	if current && n.w.db.row(leaseRowKey(group, partition)).number("revoked") == 0 { // a revoked lease keeps the time that it has left
		n.w.forget(n, partition)
	}
}

// owners lists the holders of all partitions.
func (n *node) owners(p plan) {
	life, store, _ := n.process()
	c := &call{what: owners, partitions: []int{0, 1, 2}}
	n.do(c, life, p.patience, func(ctx context.Context) {
		var leases []dynamolease.Lease
		leases, c.err = store.Owners(ctx, group)
		c.yes = c.err == nil
		for _, lease := range leases {
			c.leases[lease.Partition] = lease
		}
	})
}
