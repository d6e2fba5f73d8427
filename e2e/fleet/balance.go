package fleet

import (
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// round returns the longest time from one round of a node to the next: the interval, its jitter,
// and the time of the requests.
func (s *simulation) round() time.Duration {
	return s.script.interval()*11/10 + 20*s.script.latency + time.Second
}

// expiry returns the longest time from a node's last heartbeat until others may take its
// partitions. It adds to the ttl the uncertainty of the store's clock, for the writer and for the
// judge, and drift.
func (s *simulation) expiry() time.Duration { return s.script.ttl + s.script.ttl/1000 + 6*time.Second }

// tick returns the time from one check of the watch to the next.
func (s *simulation) tick() time.Duration { return s.script.interval() / 25 }

// A measure says how many moves an event may cost.
type measure int

const (
	exact measure = iota // the fewest possible
	loose                // some more: the nodes do not learn of the owners all at the same time
)

// change makes a change in which some nodes lose their partitions. It expects that the given nodes
// are in balance within some time after it, plus the delay of their handlers.
func (s *simulation) change(nodes, losing []string, within time.Duration, m measure, do func()) {
	began, before, kept := time.Now(), s.watch.moved(), s.watch.holds()
	for _, name := range losing {
		delete(kept, name)
	}
	want := fewest(s.script.partitions, s.sharing(nodes), kept)
	do()
	if !s.balanced(nodes, within+s.script.lag()-time.Since(began)) {
		return
	}
	if got := s.watch.moved() - before; m == exact && got != want {
		s.violate("%d partitions moved, and %d moves are enough", got, want)
	}
}

// rejoin makes a change in which nodes return. If a handler of theirs is still stuck, they cannot
// take its partition, and others take it out of turn.
func (s *simulation) rejoin(losing []string, within time.Duration, m measure, do func()) {
	if s.script.hard {
		within += s.script.drain + s.script.ttl + 5*s.round()
		m = loose
	}
	s.change(s.running(), losing, within, m, do)
}

// balanced waits for the nodes to be in balance, and reports whether they are.
func (s *simulation) balanced(nodes []string, within time.Duration) bool {
	began := time.Now()
	for {
		err := fair(s.script.partitions, s.sharing(nodes), s.watch.holds())
		if err == nil {
			s.journal.add("all", "in balance", none)
			return true
		}
		if s.violations() > 0 {
			return false
		}
		if time.Since(began) > within {
			s.violate("the fleet is not in balance, %v after the time allowed: %v", time.Since(began)-within, err)
			return false
		}
		s.pass(s.tick())
	}
}

// pass lets time pass, and has the watch check at every tick.
func (s *simulation) pass(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(min(s.tick(), time.Until(end)))
		s.watch.look()
	}
}

// quiet lets rounds pass. It expects that no partition moves in them, and that the nodes make few
// requests.
func (s *simulation) quiet(rounds int) {
	s.pass(3 * s.round()) // until the last plans take effect
	moves, asked := s.watch.moved(), make(map[string]int)
	for name := range s.nodes {
		asked[name] = s.gate.requestsOf(name)
	}
	s.pass(time.Duration(rounds) * s.script.interval())
	if s.violations() > 0 {
		return
	}
	if got := s.watch.moved() - moves; got > 0 {
		s.violate("%d partitions moved in %d quiet rounds", got, rounds)
	}
	if err := fair(s.script.partitions, s.sharing(s.running()), s.watch.holds()); err != nil {
		s.violate("after %d quiet rounds: %v", rounds, err)
	}
	most, renewals := rounds*10/9+1, 0
	if s.script.mode == coordinator.PerLease {
		renewals = (s.script.partitions + 99) / 100
	}
	enough := budget(most, renewals, s.script.partitions, s.script.interval())
	for name, before := range asked {
		if got := s.gate.requestsOf(name) - before; got > enough {
			s.violate("%s made %d requests in %d quiet rounds, and %d are enough", name, got, rounds, enough)
		}
	}
}
