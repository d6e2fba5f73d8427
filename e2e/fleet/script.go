package fleet

import (
	"fmt"
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
	mode       coordinator.LeaseMode
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
	parts []int         // partitions to be revoked
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
	drain   kind = "drain"    // an operator drains nodes, which stay so whatever happens next
	undrain kind = "undrain"  // an operator ends that
	revoke  kind = "revoke"   // an operator takes partitions from who has them
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
	return []kind{join, leave, crash, restart, replace, rolling, blip, cutOff, outage, nap, pause, wallSet, mute, noise, storm, drain, undrain, revoke}
}

// A scale says how large scripts are.
type scale struct {
	nodes int // at the start, at most
	steps int // at least; some more
	kinds []kind
	turns bool // all kinds come, one after the other, and not by chance
}

// newScript makes the script of a seed.
func newScript(seed uint64, size scale) script {
	r := dice(seed, "script")
	nodes := min(size.nodes, one(r, 1, 3, 5, 8, 12, 20, 30, 50))
	if size.turns {
		nodes = max(3, nodes) // or some kinds could not come
	}
	s := script{
		seed:       seed,
		partitions: one(r, nodes/2+1, 2*nodes+1, 5*nodes, 7*nodes+3, 200),
		ttl:        one[time.Duration](r, 5, 10, 20, 30, 30) * time.Minute,
		latency:    time.Duration(r.IntN(40)) * time.Millisecond,
		hard:       r.IntN(3) == 0,
	}
	s.drain = s.ttl / 6
	if r.IntN(4) == 0 {
		s.mode = coordinator.PerLease
	}
	w := &writer{Rand: r, script: &s, kinds: size.kinds, drained: make(map[string]bool)}
	if s.mode == coordinator.PerLease { // leases with an expiry of their own do not need the heartbeats
		w.kinds = slices.DeleteFunc(slices.Clone(size.kinds), func(k kind) bool { return k == mute })
	}
	s.first = w.names(nodes)
	w.running = append(w.running, s.first...)
	if size.turns {
		for _, k := range w.kinds {
			s.steps = append(s.steps, w.step(k))
		}
		return s
	}
	for range size.steps + r.IntN(3) {
		s.steps = append(s.steps, w.step(one(r, w.kinds...)))
	}
	return s
}

// interval is how long a round is, but for its jitter.
func (s script) interval() time.Duration { return s.ttl / 3 }

// String is the script as a failure shows it.
func (s script) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %d nodes, %d partitions, ttl %v, drain %v, latency %v, mode %d, hard handlers %v\n",
		s.seed, len(s.first), s.partitions, s.ttl, s.drain, s.latency, s.mode, s.hard)
	for i, step := range s.steps {
		fmt.Fprintf(&b, "  %d %s\n", i, step)
	}
	return b.String()
}

func (s step) String() string {
	text := fmt.Sprintf("%s of %d for %v, %d quiet rounds: %s", s.kind, len(s.nodes), s.span, s.quiet, strings.Join(s.nodes, " "))
	if len(s.parts) > 0 {
		text += fmt.Sprint(" ", s.parts)
	}
	if s.cut != "" {
		text = string(s.cut) + " " + text
	}
	return text
}
