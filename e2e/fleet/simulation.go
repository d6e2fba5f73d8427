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
	nodes   map[string]*node // that run, by name
	all     []*node          // that ever ran
	born    int
	events  map[string]int
	drained map[string]bool // nodes, whether they run or not
	decided []string        // after each step

	mu     sync.Mutex
	faults int
	broken int // violations
}

// A summary is what one simulation amounted to.
type summary struct {
	hours      float64 // nodes alive, times the time
	requests   int
	moves      int
	faults     int
	violations int
	events     map[string]int
	decided    []string // see [simulation.note]
	digest     string   // of the whole journal
}

// simulate plays a script in a bubble of its own.
func simulate(t *testing.T, server *dynamotest.Server, sc script) (sum summary) {
	t.Helper()
	table := server.Table(t)
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
			s.Logf("%s\nwhat was decided before:\n%s\nwith all requests: %s", s.script, s.journal.tail(60), s.journal.save())
		}
		s.end()
		cancel()
		opening.Wait()
		sum = s.summary()
	})
	return sum
}

// play plays the steps, until one shows a violation.
func (s *simulation) play() {
	s.event("cold start", len(s.script.first))
	// Nodes that start at one moment may miss each other in their first round. A node that has taken too
	// much then gives it up in its second round, or in its third if partitions were still free, and
	// others take that in the round after.
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

// end stops all nodes, and waits for everything that they left behind.
func (s *simulation) end() {
	for _, n := range slices.Collect(maps.Values(s.nodes)) {
		s.stop(n)
	}
	for _, n := range s.all {
		<-n.over
		if n.err != nil && !n.dead && s.violations() == 0 {
			s.violate("Run of %s: %v", n.name, n.err)
		}
	}
	for _, n := range s.all {
		n.store.Close()
		n.path.Close()
	}
	time.Sleep(s.script.ttl + s.script.drain) // handlers that are stuck return some time
}

// violate reports that something is not as it must be.
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

// running are the names of the nodes that run, in order.
func (s *simulation) running() []string { return slices.Sorted(maps.Keys(s.nodes)) }

// sharing are the nodes of a list that are to have their shares: those that are not drained.
func (s *simulation) sharing(nodes []string) []string {
	return slices.DeleteFunc(slices.Clone(nodes), func(name string) bool { return s.drained[name] })
}

// note notes what the fleet has come to: who has how many partitions, and how many have moved so far.
func (s *simulation) note() {
	s.decided = append(s.decided, fmt.Sprint(s.watch.holds(), s.watch.moved()))
}
