package fleet

import (
	"errors"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// take plays one step, and checks the promises about it.
func (s *simulation) take(step step) {
	switch step.kind {
	case join:
		s.change(slices.Concat(s.running(), step.nodes), nil, 2*s.round(), exact, func() {
			for _, name := range step.nodes {
				s.start(name)
			}
		})
	case leave:
		s.leave(step.nodes)
	case crash:
		s.change(s.without(step.nodes), step.nodes, s.expiry()+2*s.round(), exact, func() {
			for _, name := range step.nodes {
				s.kill(s.nodes[name])
			}
		})
	case restart:
		s.restart(step)
	case replace:
		s.replace(step.nodes)
	case rolling:
		s.rolling(step)
	case blip, nap:
		s.harmless(step)
	case cutOff:
		s.cutOff(step, step.cut.fault())
	case pause:
		s.pauseNodes(step)
	case mute:
		s.muteNodes(step)
	case outage:
		s.outage(step)
	case wallSet:
		s.setWalls(step)
	case noise:
		s.noise(step)
	case storm:
		s.storm(step)
	case drain:
		s.drain(step.nodes)
	case undrain:
		s.undrain(step.nodes)
	case revoke:
		s.revoke(step)
	}
}

// without returns the running nodes except some.
func (s *simulation) without(nodes []string) []string {
	return slices.DeleteFunc(s.running(), func(name string) bool { return slices.Contains(nodes, name) })
}

// leave stops nodes gracefully. It expects that other nodes work their partitions without a wait
// for a ttl.
func (s *simulation) leave(nodes []string) {
	var leaving []*node
	s.change(s.without(nodes), nodes, 2*s.round(), exact, func() {
		for _, name := range nodes {
			leaving = append(leaving, s.nodes[name])
			s.stop(s.nodes[name])
		}
	})
	for _, n := range leaving {
		<-n.over
	}
	for _, m := range s.members() {
		if slices.Contains(nodes, m.Node) {
			s.violate("%s has left, and is still a member", m.Node)
		}
	}
}

// restart crashes nodes and starts them again. It expects that they get their partitions back after
// their former sessions expire.
func (s *simulation) restart(step step) {
	nodes := s.running()
	s.change(nodes, step.nodes, s.expiry()+3*s.round(), exact, func() {
		for _, name := range step.nodes {
			s.kill(s.nodes[name])
		}
		s.pass(step.span)
		for _, name := range step.nodes {
			s.start(name)
		}
	})
}

// replace starts processes under the names of nodes that run. It expects that the older processes
// hand over, and that their Run returns ErrReplaced.
func (s *simulation) replace(nodes []string) {
	var older []*node
	s.change(s.running(), nil, 3*s.round(), loose, func() {
		for _, name := range nodes {
			n := s.nodes[name]
			older = append(older, n)
			n.died = time.Now().Add(s.round()) // roughly: it must hand over its work first
			s.start(name)
		}
	})
	for _, n := range older {
		<-n.over
		if !errors.Is(n.err, coordinator.ErrReplaced) {
			s.violate("another process replaced %s, and its Run returned %v", n.name, n.err)
		}
		n.err = nil
	}
}

// rolling replaces nodes as a deployment does: it starts new nodes, and then stops old ones.
func (s *simulation) rolling(step step) {
	started := step.fresh
	s.change(slices.Concat(s.running(), started), nil, 2*s.round(), exact, func() {
		for _, name := range started {
			s.start(name)
		}
	})
	s.pass(2 * s.round())
	s.leave(step.nodes)
}

// harmless cuts nodes off, or pauses them, for less than their leases last. It expects that no
// partition moves.
func (s *simulation) harmless(step step) {
	before := s.watch.moved()
	var heal []func()
	for _, name := range step.nodes {
		n := s.nodes[name]
		if step.kind == nap {
			heal = append(heal, s.sleep(n))
		} else {
			heal = append(heal, n.troubles.add("", step.cut.fault()))
		}
	}
	s.pass(step.span)
	for _, h := range heal {
		h()
	}
	s.pass(2 * s.round())
	if got := s.watch.moved() - before; got > 0 {
		s.violate("%d partitions moved in a %s of %v", got, step.kind, step.span)
	}
}

// noise makes some requests of all nodes meet faults for a while.
func (s *simulation) noise(step step) {
	percent := 5 + dice(s.script.seed, "percent").IntN(30)
	var heal []func()
	for name, n := range s.nodes {
		heal = append(heal, n.troubles.add("", noisy(s.script.seed, name, percent, s.met)))
	}
	s.pass(step.span)
	for _, h := range heal {
		h()
	}
	s.recover()
}

// recover expects that a fleet in any state returns to balance, and waits for it.
func (s *simulation) recover() {
	covered := s.expiry() + 8*s.round() + 2*s.script.lag()
	if s.script.hard {
		covered += s.script.ttl + s.script.drain // for handlers that are stuck
	}
	for began := time.Now(); len(s.watch.owners()) < s.script.partitions; s.pass(s.tick()) {
		if time.Since(began) > covered {
			s.violate("nodes work only %d of %d partitions, %v after the trouble", len(s.watch.owners()), s.script.partitions, covered)
		}
		if s.violations() > 0 {
			return
		}
	}
	// Nodes keep partitions that they took out of turn for some time, up to 64 times 30 rounds.
	s.balanced(s.running(), 70*s.round())
}
