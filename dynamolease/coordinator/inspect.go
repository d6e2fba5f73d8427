package coordinator

import (
	"maps"
	"slices"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// State returns a snapshot of what the coordinator knows.
func (c *Coordinator) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := State{
		Alive: c.alive, Members: slices.Clone(c.members), Rounds: c.round, LastRound: c.took, LastError: c.failure,
		Missing: c.permissions.missing, Dropped: c.hooks.calls.Dropped() + c.records.Dropped(),
	}
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
		Name: g.Name, Nodes: slices.Clone(g.nodes), Share: g.share,
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
	s.Idle, s.Free = c.idle(g)
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
