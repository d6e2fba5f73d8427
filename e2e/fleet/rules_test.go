package fleet

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

func TestFair(t *testing.T) {
	nodes := []string{"a", "b", "c"}
	tests := []struct {
		name  string
		holds map[string]int
		ok    bool
	}{
		{"fair", map[string]int{"a": 4, "b": 3, "c": 3}, true},
		{"one has too many", map[string]int{"a": 5, "b": 3, "c": 2}, false},
		{"all have the most", map[string]int{"a": 4, "b": 4, "c": 4}, false},
		{"one starves", map[string]int{"a": 5, "b": 5}, false},
		{"one partition is nobody's", map[string]int{"a": 3, "b": 3, "c": 3}, false},
		{"one partition is somebody else's", map[string]int{"a": 3, "b": 3, "c": 3, "d": 1}, false},
	}
	for _, tt := range tests {
		if err := fair(10, nodes, tt.holds); (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestFewest(t *testing.T) {
	for _, tt := range []struct {
		partitions, want int
		holds            map[string]int
	}{
		{10, 3, map[string]int{"a": 5, "b": 5}},
		{3, 0, map[string]int{"a": 1, "b": 1, "c": 1}},
		{7, 4, map[string]int{"a": 7}},
		{6, 6, nil},
	} {
		if got := fewest(tt.partitions, []string{"a", "b", "c"}, tt.holds); got != tt.want {
			t.Errorf("%d partitions, %v: %d, want %d", tt.partitions, tt.holds, got, tt.want)
		}
	}
}

// A listener collects the errors of a test, and does not fail.
type listener struct {
	testing.TB
	said *[]string
}

func (l listener) Errorf(format string, args ...any) {
	*l.said = append(*l.said, fmt.Sprintf(format, args...))
}

// A stage is a simulation without a server. Tests act on it in the place of nodes.
type stage struct {
	*simulation
	ends map[int]context.CancelFunc // of the contexts of handlers
}

// onStage runs an act in a bubble, and returns the violations.
func onStage(t *testing.T, act func(s *stage)) string {
	t.Helper()
	var said []string
	synctest.Test(t, func(t *testing.T) {
		sc := script{partitions: 4, ttl: 3 * time.Minute}
		s := &stage{ends: make(map[int]context.CancelFunc)}
		s.simulation = &simulation{TB: listener{t, &said}, script: sc, gate: newGate(0), journal: newJournal(), nodes: make(map[string]*node)}
		s.watch = newWatch(sc, s.journal, s.gate.beat, s.violate)
		for _, name := range []string{"a", "b"} {
			s.nodes[name] = &node{name: name, stepped: true} // the leases of the tests have no time left
		}
		act(s)
		for _, end := range s.ends {
			end()
		}
	})
	return strings.Join(said, "\n")
}

// slowSeed returns a seed that makes the handlers of a partition slow.
func slowSeed(partition int) uint64 {
	for sc := (script{hard: true}); ; sc.seed++ {
		if sc.temperOf(partition) == slow {
			return sc.seed
		}
	}
}

// gain lets a handler of a node begin.
func (s *stage) gain(name string, partition int, epoch int64) *holding {
	ctx, cancel := context.WithCancel(context.Background())
	if end := s.ends[partition]; end != nil {
		cancelBoth := cancel
		cancel = func() { end(); cancelBoth() }
	}
	s.ends[partition] = cancel
	lease := coordinator.Assignment{Lease: dynamolease.Lease{Partition: partition, Epoch: epoch}}
	return s.watch.enter(ctx, s.nodes[name], lease)
}

// passOn hands a partition over in the right way.
func (s *stage) passOn(from *holding, name string, epoch int64) *holding {
	s.ends[from.lease.Partition]()
	synctest.Wait()
	s.watch.exit(from)
	return s.gain(name, from.lease.Partition, epoch)
}

// The simulation and the watch report each violation of a rule.
func TestRules(t *testing.T) {
	start := func(s *stage) []*holding {
		return []*holding{s.gain("a", 0, 1), s.gain("a", 1, 1), s.gain("b", 2, 1), s.gain("b", 3, 1)}
	}
	both := []string{"a", "b"}
	tests := []struct {
		name, want string
		act        func(s *stage)
	}{
		{"nothing wrong", "", func(s *stage) {
			s.change(both, nil, time.Minute, exact, func() { start(s) })
		}},
		{"two at once", "the handler of a still runs", func(s *stage) { start(s); s.gain("b", 0, 2) }},
		{"given away before the handler has returned", "the handler of a still runs", func(s *stage) {
			s.watch.script.seed, s.watch.script.hard, s.watch.script.drain = slowSeed(0), true, time.Minute
			start(s)
			s.ends[0]()
			time.Sleep(time.Second)
			s.gain("b", 0, 2)
		}},
		{"epoch stays", "under epoch 1 after", func(s *stage) { s.passOn(start(s)[0], "b", 1) }},
		{"epoch goes back", "under epoch 0 after", func(s *stage) { s.passOn(start(s)[0], "b", 0) }},
		{"gained while it stops", "after it began to stop", func(s *stage) {
			s.nodes["a"].stopping = time.Now()
			time.Sleep(time.Minute)
			s.gain("a", 0, 1)
		}},
		{"gained without heartbeats", "its heartbeats fail", func(s *stage) {
			s.nodes["a"].mutedSince = time.Now()
			time.Sleep(2 * time.Minute)
			s.gain("a", 0, 1)
		}},
		{"gained while it is drained", "and it is drained", func(s *stage) {
			s.nodes["a"].drainedSince = time.Now()
			time.Sleep(2 * time.Minute)
			s.gain("a", 0, 1)
		}},
		{"a drained node has a share", "not in balance", func(s *stage) {
			s.drained = map[string]bool{"a": true}
			s.change(both, nil, time.Minute, exact, func() { start(s) })
		}},
		{"a drained node has none", "", func(s *stage) {
			s.drained = map[string]bool{"a": true}
			s.change(both, nil, time.Minute, exact, func() {
				for p := range 4 {
					s.gain("b", p, 1)
				}
			})
		}},
		{"revoked, and its context goes on", "partition 0 was revoked", func(s *stage) { s.watch.revoked(start(s)[0]) }},
		{"revoked, and its context ends as lost", "the cause of its context is", func(s *stage) {
			lost := start(s)[0]
			s.watch.tell(lost, coordinator.ErrLost)
			s.watch.revoked(lost)
		}},
		{"revoked, and its context ends as revoked", "", func(s *stage) {
			first := start(s)[0]
			s.watch.tell(first, coordinator.ErrRevoked)
			s.watch.revoked(first)
		}},
		{"its context does not end in time", "has not ended", func(s *stage) {
			s.nodes["a"].stepped = false
			start(s)
			s.watch.look()
			s.watch.look()
		}},
		{"unfair", "not in balance", func(s *stage) {
			s.change(both, nil, time.Minute, exact, func() {
				for p := range 4 {
					s.gain("a", p, 1)
				}
			})
		}},
		{"needless move", "6 partitions moved, and 4 moves are enough", func(s *stage) {
			s.change(both, nil, time.Minute, exact, func() {
				all := start(s)
				s.passOn(all[0], "b", 2)
				s.passOn(all[2], "a", 2)
			})
		}},
		{"move in a quiet time", "2 partitions moved in 9 quiet rounds", func(s *stage) {
			all := start(s)
			time.AfterFunc(5*time.Minute, func() {
				s.passOn(all[0], "b", 2)
				s.passOn(all[2], "a", 2)
			})
			s.quiet(9)
		}},
		{"too many requests", "requests in 9 quiet rounds", func(s *stage) {
			start(s)
			time.AfterFunc(5*time.Minute, func() {
				s.gate.mu.Lock()
				defer s.gate.mu.Unlock()
				s.gate.requests["a"] += 100
			})
			s.quiet(9)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			said := onStage(t, tt.act)
			if !strings.Contains(said, tt.want) || tt.want == "" && said != "" {
				t.Errorf("violations are %q, want %q", said, tt.want)
			}
		})
	}
}
