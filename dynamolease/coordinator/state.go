package coordinator

import (
	"maps"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A State is what a coordinator knows, for operators.
type State struct {
	Session   string        // the node's session, "node#id"; empty before the first
	Remaining time.Duration // how long the session is good for without another heartbeat
	Alive     bool          // the latest heartbeat succeeded
	Members   []dynamolease.Member
	Groups    []GroupState
	Rounds    int64         // since the start
	LastRound time.Duration // how long the latest took
	LastError error         // the latest failure of a request or a handler; nil before
}

// A GroupState is what a coordinator knows of one group.
type GroupState struct {
	Name       string
	Nodes      []string            // that took part at the latest round, in order
	Share      int                 // of this node
	Free       int                 // partitions without an owner, as the latest plan saw it
	Leases     []dynamolease.Lease // of this node, in partition order
	HandingOff int                 // of these, how many are being handed over
}

// latest is a worker's lease. One in a session expires with that, wherever heartbeats have put it since. The caller has the mutex.
func (c *Coordinator) latest(w *worker) dynamolease.Lease {
	lease := *w.lease.Load()
	if w.session == c.session && lease.Session != "" && c.expires.After(lease.ExpiresAt) && !lease.Revoked() {
		lease.ExpiresAt = c.expires
	}
	return lease
}

// State is a snapshot.
func (c *Coordinator) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := State{Alive: c.alive, Members: slices.Clone(c.members), Rounds: c.round, LastRound: c.took, LastError: c.failure}
	if c.session != nil {
		s.Session, s.Remaining = c.session.ID(), c.session.Remaining()
	}
	for _, g := range c.groups {
		state := GroupState{Name: g.Name, Nodes: slices.Clone(g.nodes), Share: g.share, Free: g.free}
		for _, partition := range slices.Sorted(maps.Keys(g.workers)) {
			w := g.workers[partition]
			if w.lost || w.released {
				continue
			}
			state.Leases = append(state.Leases, c.latest(w))
			if w.ending {
				state.HandingOff++
			}
		}
		s.Groups = append(s.Groups, state)
	}
	return s
}
