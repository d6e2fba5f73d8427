package fleet

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// A writer writes a script. It keeps track of the nodes that run.
type writer struct {
	*rand.Rand
	script  *script
	kinds   []kind
	running []string
	drained map[string]bool
	born    int
}

// names returns new names of nodes.
func (w *writer) names(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("n%03d", w.born*37%1000) // not in the order of their birth
		w.born++
	}
	return list
}

// pick chooses up to n of the nodes that run. It leaves out at least one node that is not drained.
func (w *writer) pick(n int) []string {
	spared := one(w.Rand, w.working()...)
	var list []string
	for _, i := range w.Perm(len(w.running)) {
		if name := w.running[i]; name != spared && len(list) < n {
			list = append(list, name)
		}
	}
	return list
}

// working returns the nodes that run and are not drained. There is always one.
func (w *writer) working() []string {
	return slices.DeleteFunc(slices.Clone(w.running), func(name string) bool { return w.drained[name] })
}

// gone notes that nodes no longer run.
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
func (w *writer) step(k kind) step {
	s := step{kind: k, quiet: 12 + w.IntN(20)}
	if s.kind == undrain && len(w.working()) == len(w.running) {
		s.kind = drain
	}
	if len(w.running) < 2 || s.kind == drain && len(w.working()) < 2 {
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
	case drain:
		s.nodes = slices.DeleteFunc(w.pick(len(w.running)), func(name string) bool { return w.drained[name] })
		s.nodes = s.nodes[:min(few, len(s.nodes))]
		for _, name := range s.nodes {
			w.drained[name] = true
		}
	case undrain:
		for _, name := range w.running {
			if w.drained[name] && (len(s.nodes) == 0 || w.IntN(2) == 0) {
				s.nodes = append(s.nodes, name)
			}
		}
		for _, name := range s.nodes {
			delete(w.drained, name)
		}
	case revoke:
		n := w.script.partitions
		s.parts = w.Perm(n)[:min(n, 1+w.IntN(1+n/4))]
	default:
		s.nodes = w.pick(few)
	}
	s.span = w.span(s.kind)
	switch s.kind {
	case blip, cutOff, outage:
		s.cut = one(w.Rand, hanging, refused, failing)
		if s.span > 20*time.Minute {
			s.cut = hanging // with the other cuts a node retries each second: that is too many requests
		}
	}
	return s
}

// span returns how long an event lasts.
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
