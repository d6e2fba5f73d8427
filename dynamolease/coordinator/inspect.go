package coordinator

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// State returns a snapshot of what the coordinator knows.
func (c *Coordinator) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := State{Alive: c.alive, Members: slices.Clone(c.members), Rounds: c.round, LastRound: c.took, LastError: c.failure, Missing: c.permissions.missing}
	if c.session != nil {
		s.Session, s.Remaining = c.session.ID(), c.session.Remaining()
	}
	for _, g := range c.groups {
		s.Groups = append(s.Groups, c.stateOf(g))
	}
	return s
}

// stateOf returns the state of a group. The caller holds the mutex.
func (c *Coordinator) stateOf(g *group) GroupState {
	s := GroupState{
		Name: g.Name, Nodes: slices.Clone(g.nodes), Share: g.share, Free: g.free,
		OtherCounts: maps.Clone(g.otherCounts), OtherService: g.otherService,
	}
	for _, partition := range slices.Sorted(maps.Keys(g.workers)) {
		w := g.workers[partition]
		if w.lost || w.released {
			continue
		}
		s.Leases = append(s.Leases, c.leaseOf(w))
		if w.ending {
			s.HandingOff++
		}
	}
	return s
}

// leaseOf returns the lease of a worker. A lease in the session expires where heartbeats have put
// the session's end since. The caller holds the mutex.
func (c *Coordinator) leaseOf(w *worker) dynamolease.Lease {
	lease := *w.lease.Load()
	if w.session == c.session && lease.Session != "" && c.expires.After(lease.ExpiresAt) && !lease.Revoked() {
		lease.ExpiresAt = c.expires
	}
	return lease
}

// Health returns nil while the node's renewals succeed. It returns an error that says what is
// wrong when they have failed for so long that half of the ttl is over (a round and a quarter,
// where rounds are longer than two fifths of the ttl): then somebody should look, while the node's
// leases are still good. It returns an error, too, while another service works one of the groups, or
// the node lacks a permission (see [State]); before the node has joined; and after Run has returned.
// It returns one that wraps [ErrPartitions] when nodes have had different numbers of partitions for an
// hour: longer than most deployments take, and no reason to restart anything. It makes no request, so
// that a health check may call it often.
func (c *Coordinator) Health() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	enough := min(c.cfg.TTL/2, c.cfg.TTL-c.cfg.Interval*5/4)
	unrenewed := c.cfg.TTL - enough
	switch {
	case c.over:
		return errors.New("the coordinator has stopped")
	case c.session == nil:
		return c.unhealthy("the node has not joined the service yet")
	case c.session.Remaining() < enough:
		return c.unhealthy(fmt.Sprintf("no heartbeat has succeeded for more than %v of the ttl of %v, %v are left",
			unrenewed, c.cfg.TTL, c.session.Remaining()))
	}
	if w := c.leases.overdue(c.groups, enough); w != nil {
		return c.unhealthy(fmt.Sprintf("the lease of %s/%d has not been renewed for more than %v of the ttl of %v, %v are left",
			w.groupName, w.partition, unrenewed, c.cfg.TTL, c.leases.remaining(w)))
	}
	return cmp.Or(c.shared(), c.unable(), c.disagreement())
}

// unhealthy adds the latest failure, which may be the cause. The caller holds the mutex.
func (c *Coordinator) unhealthy(problem string) error {
	if c.failure == nil {
		return errors.New(problem)
	}
	return fmt.Errorf("%s; the latest failure: %w", problem, c.failure)
}
