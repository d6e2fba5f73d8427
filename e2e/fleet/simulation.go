package fleet

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// A simulation plays one script.
type simulation struct {
	testing.TB
	script  script
	server  *dynamotest.Server
	table   string
	gate    *gate
	watch   *watch
	journal *journal
	nodes   map[string]*node // the nodes that run, by name
	all     []*node          // all nodes that ever ran
	born    int
	events  map[string]int
	drained map[string]bool // by node, whether it runs or not
	decided []string        // the state of the fleet after each step, see [simulation.note]

	mu     sync.Mutex
	faults int
	broken int // violations
}

// A summary holds the figures of one simulation.
type summary struct {
	hours      float64 // live nodes, times the simulated time
	requests   int
	moves      int
	faults     int
	violations int
	events     map[string]int
	decided    []string // see [simulation.note]
	digest     string   // of the whole journal
}

// simulate plays a script in a separate bubble.
func simulate(t *testing.T, server *dynamotest.Server, sc script) (sum summary) {
	t.Helper()
	table := server.Table(t)
	server.Contend(table, dynamotest.Contention{Hold: 40 * time.Millisecond, ReadUnits: 3000, WriteUnits: 1000})
	synctest.Test(t, func(t *testing.T) {
		s := &simulation{
			TB: t, script: sc, server: server, table: table, gate: newGate(sc.seed), journal: newJournal(),
			nodes: make(map[string]*node), events: make(map[string]int), drained: make(map[string]bool),
		}
		s.watch = newWatch(sc, s.journal, s.gate.beat, s.violate)
		s.gate.passed = func(node, what string) { s.journal.add(node, what, asked) }
		ctx, cancel := context.WithCancel(context.Background())
		var opening sync.WaitGroup
		opening.Go(func() { s.gate.run(ctx) })
		s.play()
		if s.violations() > 0 {
			s.Logf("%s\nthe last events before the violation:\n%s\nthe journal with all requests is in %s", s.script, s.journal.tail(60), s.journal.save())
		}
		s.end()
		cancel()
		opening.Wait()
		sum = s.summary()
	})
	return sum
}

// play plays the steps, until it finds a violation.
func (s *simulation) play() {
	s.event("cold start", len(s.script.first))
	// Nodes that start at one moment may miss each other in their first round. If a node then takes
	// too many partitions, it gives them up in its second round, or in its third if partitions were
	// still free. Other nodes take them in the next round.
	s.change(s.script.first, nil, 4*s.round(), loose, func() {
		for _, name := range s.script.first {
			s.start(name)
		}
	})
	s.quiet(12)
	for _, step := range s.script.steps {
		if s.violations() > 0 {
			return
		}
		s.journal.add("all", step.String(), none)
		s.event(string(step.kind), len(step.nodes)+len(step.parts))
		s.take(step)
		s.quiet(step.quiet)
		s.note()
	}
}

func (s *simulation) event(what string, n int) { s.events[what] += n }

// end stops all nodes, and waits until their handlers and clients have ended.
func (s *simulation) end() {
	for _, n := range slices.Collect(maps.Values(s.nodes)) {
		s.stop(n)
	}
	for _, n := range s.all {
		<-n.over
		if n.err != nil && !n.dead && s.violations() == 0 {
			s.violate("Run of %s returned an error: %v", n.name, n.err)
		}
	}
	for _, n := range s.all {
		n.store.Close()
		n.path.Close()
	}
	time.Sleep(s.script.ttl + s.script.drain) // until the stuck handlers return
}

// violate reports a violation: the test fails.
func (s *simulation) violate(format string, args ...any) {
	s.mu.Lock()
	s.broken++
	s.mu.Unlock()
	s.Errorf("seed %d, after %v: "+format, append([]any{s.script.seed, time.Since(s.journal.began)}, args...)...)
}

func (s *simulation) violations() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

func (s *simulation) met() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults++
}

func (s *simulation) summary() summary {
	sum := summary{requests: s.gate.count(), moves: s.watch.moved(), faults: s.faults, violations: s.violations(), events: s.events, decided: s.decided, digest: s.journal.digest()}
	for _, n := range s.all {
		sum.hours += n.hours()
	}
	return sum
}

// running returns the names of the nodes that run, in order.
func (s *simulation) running() []string { return slices.Sorted(maps.Keys(s.nodes)) }

// sharing returns the nodes of a list that get shares: those that are not drained.
func (s *simulation) sharing(nodes []string) []string {
	return slices.DeleteFunc(slices.Clone(nodes), func(name string) bool { return s.drained[name] })
}

// note records the state of the fleet: how many partitions each node has, and how many have moved
// so far.
func (s *simulation) note() {
	s.decided = append(s.decided, fmt.Sprint(s.watch.holds(), s.watch.moved()))
}
