package fleet

import (
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// cutOff cuts nodes off for longer than their leases last. It expects that the contexts of their
// handlers end in time, that other nodes take over, and that these give back when the nodes return.
func (s *simulation) cutOff(step step, fault dynamotest.Fault) {
	began, deadline := time.Now(), make(map[*node]time.Duration)
	var heal []func()
	s.change(s.without(step.nodes), step.nodes, s.expiry()+2*s.round(), exact, func() {
		for _, name := range step.nodes {
			n := s.nodes[name]
			heal = append(heal, n.troubles.add("", fault))
			deadline[n] = s.watch.believed(n)
		}
		// Other nodes cannot take anything before this time.
		s.pass(s.longest(deadline) + time.Second)
		s.told(deadline, began)
	})
	s.pass(step.span - time.Since(began))
	s.rejoin(nil, 3*s.round(), exact, func() {
		for _, h := range heal {
			h()
		}
	})
}

func (s *simulation) longest(deadlines map[*node]time.Duration) (d time.Duration) {
	for _, each := range deadlines {
		d = max(d, each)
	}
	return d
}

// told checks nodes that lost the store: the contexts of their handlers ended before their leases
// did.
func (s *simulation) told(deadlines map[*node]time.Duration, since time.Time) {
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	for _, t := range s.watch.latest {
		left, ok := deadlines[t.node]
		if !ok || !t.told.IsZero() && t.told.Before(since) {
			continue
		}
		left += left/1000 + time.Millisecond // the node's clock drifts
		if t.told.IsZero() || t.told.Sub(since) > left {
			s.violate("%s lost the store with %v left of its lease of partition %d, and the context of its handler ended at %v", t.node.name, left, t.lease.Partition, t.told)
		}
	}
}

// pauseNodes pauses nodes for longer than their leases last. It expects that their leases have no
// time left as soon as they go on.
func (s *simulation) pauseNodes(step step) {
	began := time.Now()
	var paused []*node
	var wake []func()
	s.change(s.without(step.nodes), step.nodes, s.expiry()+2*s.round(), exact, func() {
		for _, name := range step.nodes {
			paused = append(paused, s.nodes[name])
			wake = append(wake, s.sleep(s.nodes[name]))
		}
	})
	s.pass(step.span - time.Since(began))
	s.rejoin(nil, 4*s.round(), exact, func() {
		for i, n := range paused {
			wake[i]()
			if left := s.watch.believed(n); left > 0 {
				s.violate("%s was paused for %v, and still believes in a lease for %v", n.name, time.Since(began), left)
			}
			s.watch.set(func() { n.stepped = true }) // its timers run late
		}
	})
	s.settleClocks(paused)
}

// settleClocks makes the watch check the contexts of nodes again, after their clocks stepped or
// stopped.
func (s *simulation) settleClocks(nodes []*node) {
	s.pass(2 * s.round())
	s.watch.set(func() {
		for _, n := range nodes {
			n.stepped = false
		}
	})
}

// muteNodes makes the heartbeats of nodes fail, and no other request. It expects that the nodes
// lose their partitions and take none.
func (s *simulation) muteNodes(step step) {
	began := time.Now()
	var heal []func()
	s.change(s.without(step.nodes), step.nodes, s.expiry()+2*s.round(), exact, func() {
		for _, name := range step.nodes {
			n := s.nodes[name]
			heal = append(heal, n.troubles.add("UpdateItem", muted()))
			s.watch.set(func() { n.mutedSince = time.Now() })
		}
	})
	s.pass(step.span - time.Since(began))
	s.rejoin(nil, 3*s.round(), exact, func() {
		for i, name := range step.nodes {
			n := s.nodes[name]
			s.watch.set(func() { n.mutedSince = time.Time{} })
			heal[i]()
		}
	})
}

// outage takes the store away from all nodes. After a long outage it expects that all work stopped,
// and that it begins again without a restart.
func (s *simulation) outage(step step) {
	if step.span < s.script.ttl/4 {
		s.harmless(step)
		return
	}
	began, deadline := time.Now(), make(map[*node]time.Duration)
	var heal []func()
	for _, n := range s.nodes {
		heal = append(heal, n.troubles.add("", step.cut.fault()))
		deadline[n] = s.watch.believed(n)
	}
	s.pass(s.longest(deadline) + time.Second)
	s.told(deadline, began)
	if held := len(s.watch.owners()); held > 0 {
		s.violate("nodes work %d partitions without a store", held)
	}
	s.pass(step.span - time.Since(began))
	s.rejoin(nil, 5*s.round(), loose, func() {
		for _, h := range heal {
			h()
		}
	})
}

// setWalls sets the wall clocks of nodes forward. It expects that these nodes lose their leases,
// that no other node does, and that the fleet returns to balance.
func (s *simulation) setWalls(step step) {
	var set []*node
	s.rejoin(step.nodes, s.expiry()+4*s.round(), loose, func() {
		for _, name := range step.nodes {
			n := s.nodes[name]
			set = append(set, n)
			s.watch.set(func() { n.stepped = true })
			n.step(step.span)
			if left := s.watch.believed(n); left > 0 {
				s.violate("the wall clock of %s stepped by %v, and the node still believes in a lease for %v", n.name, step.span, left)
			}
		}
		s.pass(s.round() + s.script.lag()) // their next heartbeats notice the step
	})
	s.settleClocks(set)
}
