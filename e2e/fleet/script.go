package fleet

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// A script is all that happens in one simulation. It follows from the seed alone.
type script struct {
	seed       uint64
	first      []string // the nodes of the cold start
	partitions int
	ttl        time.Duration
	drain      time.Duration
	latency    time.Duration // of requests
	renewal    coordinator.Renewal
	hard       bool // some handlers are slow, stuck, or fail
	steps      []step
}

// A step is one event, and the quiet after it.
type step struct {
	kind  kind
	nodes []string // to whom it happens; new names where nodes start
	fresh []string // who starts in their place, in a rolling deployment
	cut   cut
	span  time.Duration // how long it lasts
	quiet int           // rounds after the fleet is in balance again
}

// A kind is what may happen to a fleet.
type kind string

const (
	join    kind = "join"     // nodes start
	leave   kind = "leave"    // nodes stop gracefully
	crash   kind = "crash"    // nodes end as by kill -9
	restart kind = "restart"  // nodes crash and start again under their names
	replace kind = "replace"  // other processes start under the names of nodes that run
	rolling kind = "rolling"  // new nodes start, then as many old ones stop
	blip    kind = "blip"     // nodes are cut off for less than leases last
	cutOff  kind = "cut off"  // nodes are cut off for longer
	outage  kind = "outage"   // all are
	nap     kind = "nap"      // nodes are paused for less than leases last
	pause   kind = "pause"    // nodes are paused for longer
	wallSet kind = "wall set" // the wall clocks of nodes step by hours
	mute    kind = "mute"     // heartbeats of nodes fail, and nothing else
	noise   kind = "noise"    // some requests of all nodes meet faults
	storm   kind = "storm"    // much of that at the same time
)

// A cut is how a node loses the store.
type cut string

const (
	hanging cut = "hanging" // nothing is answered
	refused cut = "refused" // connections are reset
	failing cut = "failing" // the answer is that it failed
)

// everything is all that may happen.
func everything() []kind {
	return []kind{join, leave, crash, restart, replace, rolling, blip, cutOff, outage, nap, pause, wallSet, mute, noise, storm}
}

// A scale says how large scripts are.
type scale struct {
	nodes int // at the start, at most
	steps int // at least; some more
	kinds []kind
}

// newScript makes the script of a seed.
func newScript(seed uint64, size scale) script {
	r := dice(seed, "script")
	nodes := min(size.nodes, one(r, 1, 3, 5, 8, 12, 20, 30, 50))
	s := script{
		seed:       seed,
		partitions: one(r, nodes/2+1, 2*nodes+1, 5*nodes, 7*nodes+3, 200),
		ttl:        one[time.Duration](r, 5, 10, 20, 30, 30) * time.Minute,
		latency:    time.Duration(r.IntN(40)) * time.Millisecond,
		hard:       r.IntN(3) == 0,
	}
	s.drain = s.ttl / 6
	if r.IntN(4) == 0 {
		s.renewal = coordinator.PerLease
	}
	w := &writer{Rand: r, script: &s, kinds: size.kinds}
	if s.renewal == coordinator.PerLease { // leases with an expiry of their own do not need the heartbeats
		w.kinds = slices.DeleteFunc(slices.Clone(size.kinds), func(k kind) bool { return k == mute })
	}
	s.first = w.names(nodes)
	w.running = append(w.running, s.first...)
	for range size.steps + r.IntN(3) {
		s.steps = append(s.steps, w.step())
	}
	return s
}

// interval is how long a round is, but for its jitter.
func (s script) interval() time.Duration { return s.ttl / 3 }

// String is the script as a failure shows it.
func (s script) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %d nodes, %d partitions, ttl %v, drain %v, latency %v, renewal %d, hard handlers %v\n",
		s.seed, len(s.first), s.partitions, s.ttl, s.drain, s.latency, s.renewal, s.hard)
	for i, step := range s.steps {
		fmt.Fprintf(&b, "  %d %s\n", i, step)
	}
	return b.String()
}

func (s step) String() string {
	text := fmt.Sprintf("%s of %d for %v, %d quiet rounds: %s", s.kind, len(s.nodes), s.span, s.quiet, strings.Join(s.nodes, " "))
	if s.cut != "" {
		text = string(s.cut) + " " + text
	}
	return text
}

// A writer writes a script. It knows which nodes run at any point of it.
type writer struct {
	*rand.Rand
	script  *script
	kinds   []kind
	running []string
	born    int
}

// names are names of nodes that nobody had.
func (w *writer) names(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("n%03d", w.born*37%1000) // not in the order of their birth
		w.born++
	}
	return list
}

// pick takes up to n of the nodes that run, and leaves one at least out.
func (w *writer) pick(n int) []string {
	n = min(n, len(w.running)-1)
	list := make([]string, 0, n)
	for _, i := range w.Perm(len(w.running))[:max(0, n)] {
		list = append(list, w.running[i])
	}
	return list
}

// gone notes that nodes do not run any more.
func (w *writer) gone(nodes []string) {
	out := make(map[string]bool)
	for _, name := range nodes {
		out[name] = true
	}
	var kept []string
	for _, name := range w.running {
		if !out[name] {
			kept = append(kept, name)
		}
	}
	w.running = kept
}

// step writes the next step.
func (w *writer) step() step {
	s := step{kind: one(w.Rand, w.kinds...), quiet: 12 + w.IntN(20)}
	if len(w.running) < 2 {
		s.kind = join
	}
	few := 1 + w.IntN(1+len(w.running)/4)
	switch s.kind {
	case join:
		s.nodes = w.names(1 + w.IntN(2+len(w.running)/2))
		w.running = append(w.running, s.nodes...)
	case rolling:
		s.nodes = w.pick(1 + len(w.running)/2)
		s.fresh = w.names(len(s.nodes))
		w.gone(s.nodes)
		w.running = append(w.running, s.fresh...)
	case leave, crash:
		s.nodes = w.pick(one(w.Rand, few, 1+len(w.running)/2))
		w.gone(s.nodes)
	case outage, noise, storm:
		s.nodes = append(s.nodes, w.running...)
	default:
		s.nodes = w.pick(few)
	}
	s.span = w.span(s.kind)
	switch s.kind {
	case blip, cutOff, outage:
		s.cut = one(w.Rand, hanging, refused, failing)
		if s.span > 20*time.Minute {
			s.cut = hanging // others fail each second: that is many requests
		}
	}
	return s
}

// span is how long an event lasts.
func (w *writer) span(k kind) time.Duration {
	ttl := w.script.ttl
	switch k {
	case restart:
		return between(w.Rand, time.Second, ttl/2)
	case blip, nap:
		return between(w.Rand, time.Second, ttl/4)
	case cutOff, mute, pause:
		return between(w.Rand, ttl*3/2, ttl*2)
	case outage:
		return one(w.Rand, ttl/5, ttl*3/2)
	case wallSet:
		return between(w.Rand, 2*time.Hour, 9*time.Hour) // by how much
	case noise, storm:
		return between(w.Rand, 4*ttl, 8*ttl)
	default:
		return 0
	}
}
