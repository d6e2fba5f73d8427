package fleet

import (
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// round is the longest time from one round of a node to the next: the interval, its jitter, and what requests take.
func (s *simulation) round() time.Duration {
	return s.script.interval()*11/10 + 20*s.script.latency + time.Second
}

// expiry is the longest time from a node's last sign of life until others may take what it had: the ttl, what the store's
// clock is uncertain by on the writer's side and on the judge's, and drift.
func (s *simulation) expiry() time.Duration { return s.script.ttl + s.script.ttl/1000 + 6*time.Second }

// tick is how often the simulation looks.
func (s *simulation) tick() time.Duration { return s.script.interval() / 25 }

// A measure says how many moves an event may cost.
type measure int

const (
	exact measure = iota // the fewest that can be
	loose                // some more: who has what is not known to all at the same time
)

// change makes a change, by which some nodes lose what they have, and after which the nodes that are there are to be in
// balance within some time, besides what handlers delay.
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
		s.violate("%d partitions moved, and %d would do", got, want)
	}
}

// rejoin is a change by which nodes are there again that were there before. Where their handlers are still stuck from then
// they cannot take these partitions, and others do, out of turn.
func (s *simulation) rejoin(losing []string, within time.Duration, m measure, do func()) {
	if s.script.hard {
		within += s.script.drain + s.script.ttl + 5*s.round()
		m = loose
	}
	s.change(s.running(), losing, within, m, do)
}

// balanced waits until the nodes are in balance, and reports whether they came to be.
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
			s.violate("not in balance, %v after the last chance: %v", time.Since(began)-within, err)
			return false
		}
		s.pass(s.tick())
	}
}

// pass lets time pass, and looks.
func (s *simulation) pass(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(min(s.tick(), time.Until(end)))
		s.watch.look()
	}
}

// quiet lets rounds pass in which nothing may move, and little may be asked for.
func (s *simulation) quiet(rounds int) {
	s.pass(3 * s.round()) // the last plans settle
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
			s.violate("%s made %d requests in %d quiet rounds, %d are enough", name, got, rounds, enough)
		}
	}
}
