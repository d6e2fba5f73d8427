package fleet

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// A script lists all events of one simulation. It follows from the seed alone.
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
	nodes []string // the nodes that it affects; new names if it starts nodes
	fresh []string // the nodes that start in their place, in a rolling deployment
	cut   cut
	span  time.Duration // how long it lasts
	parts []int         // the partitions that it revokes
	quiet int           // quiet rounds after the fleet is in balance again
}

// A kind is one of the events that may happen to a fleet.
type kind string

const (
	join    kind = "join"     // nodes start
	leave   kind = "leave"    // nodes stop gracefully
	crash   kind = "crash"    // nodes end as after kill -9
	restart kind = "restart"  // nodes crash and start again under their names
	replace kind = "replace"  // other processes start under the names of nodes that run
	rolling kind = "rolling"  // new nodes start, then as many old ones stop
	blip    kind = "blip"     // nodes are cut off for less than leases last
	cutOff  kind = "cut off"  // nodes are cut off for longer than leases last
	outage  kind = "outage"   // all nodes are cut off
	nap     kind = "nap"      // nodes are paused for less than leases last
	pause   kind = "pause"    // nodes are paused for longer than leases last
	wallSet kind = "wall set" // the wall clocks of nodes step by hours
	mute    kind = "mute"     // heartbeats of nodes fail, and no other requests
	noise   kind = "noise"    // some requests of all nodes meet faults
	storm   kind = "storm"    // several of these events happen at the same time
	drain   kind = "drain"    // an operator drains nodes; they stay drained in later events
	undrain kind = "undrain"  // an operator ends the drain of nodes
	revoke  kind = "revoke"   // an operator revokes the leases of partitions
)

// A cut says how a node loses the store.
type cut string

const (
	hanging cut = "hanging" // requests get no answer
	refused cut = "refused" // connections are reset
	failing cut = "failing" // requests get an error as their answer
)

// everything returns all kinds of events.
func everything() []kind {
	return []kind{join, leave, crash, restart, replace, rolling, blip, cutOff, outage, nap, pause, wallSet, mute, noise, storm, drain, undrain, revoke}
}

// A scale says how large scripts are.
type scale struct {
	nodes int // the most at the start
	steps int // the least; a script may have a few more
	kinds []kind
	turns bool // the script has each of the kinds once, in this order; otherwise it chooses at random
}

// newScript makes the script of a seed.
func newScript(seed uint64, size scale) script {
	r := dice(seed, "script")
	nodes := min(size.nodes, one(r, 1, 3, 5, 8, 12, 20, 30, 50))
	if size.turns {
		nodes = max(3, nodes) // some kinds need this many
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
	if s.mode == coordinator.PerLease { // leases with their own expiry do not depend on heartbeats
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

// interval returns how long a round is, without its jitter.
func (s script) interval() time.Duration { return s.ttl / 3 }

// String returns the script in the form in which a failure shows it.
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
