package fleet

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// storm makes much trouble at the same time. Nodes may be in any state after it. All along, no two
// nodes may work one partition.
func (s *simulation) storm(step step) {
	r := dice(s.script.seed, fmt.Sprint("storm", step.span))
	troubled := make(map[*node]time.Time) // when the trouble of each node ends
	var heal []func()
	for end := time.Now().Add(step.span); time.Now().Before(end) && s.violations() == 0; {
		names := s.running()
		n := s.nodes[names[r.IntN(len(names))]]
		d := between(r, time.Second, 2*s.script.ttl)
		what := r.IntN(7)
		if time.Now().After(troubled[n]) {
			switch {
			case what == 0 && len(names) > 2:
				s.event("storm: crash", 1)
				s.kill(n)
			case what == 1 && len(names) > 2:
				s.event("storm: leave", 1)
				s.stop(n)
			case what == 2:
				s.event("storm: restart", 1)
				s.kill(n)
				s.start(n.name)
			case what == 3:
				s.event("storm: pause", 1)
				wake := s.sleep(n)
				s.watch.set(func() { n.stepped = true })
				troubled[n] = time.Now().Add(d)
				heal = append(heal, s.after(d, wake))
			default:
				s.event("storm: cut", 1)
				fault := one(r, dynamotest.Hang(), dynamotest.HangAfter(), dynamotest.LoseResponse(), dynamotest.ServerError(500), dynamotest.Throttle())
				troubled[n] = time.Now().Add(d)
				heal = append(heal, s.after(d, n.troubles.add(one(r, "", "", "UpdateItem", "TransactWriteItems", "Query"), fault)))
			}
		}
		s.pass(between(r, time.Second, s.script.ttl/2))
	}
	for _, h := range heal {
		h()
	}
	for _, name := range step.nodes { // nodes that crashed or left start again
		if s.nodes[name] == nil {
			s.start(name)
		}
	}
	s.settleClocks(slices.Collect(maps.Values(s.nodes)))
	s.recover()
}

// after calls do once: when d has passed, or when the caller calls now.
func (s *simulation) after(d time.Duration, do func()) (now func()) {
	timer := time.AfterFunc(d, do)
	return func() {
		if timer.Stop() {
			do()
		}
	}
}

// set changes fields of nodes that the watch's mutex guards.
func (w *watch) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}
