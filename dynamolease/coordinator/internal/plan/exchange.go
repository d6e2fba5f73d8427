package plan

import "math"

// An exchange moves extras from some parts of a table to others, each along a chain: a part gives
// one up to a deck, the deck gives one to another part, and so on. A chain costs one for each extra
// that a part comes to get and does not have by now, and what it saves counts against that.
//
// The chains that it finds are the cheapest. So if nothing could be saved by a chain from a part back
// to itself before, nothing can afterwards: what the parts get is always the cheapest for the totals
// that they have. (This is the primal-dual method for flows of minimal cost.)
type exchange struct {
	t        *table
	from, to []int // how many extras parts may still give away, and get
	parts    int
	cost     []int // of the cheapest chain to each place; places are the parts, and then the decks
	best     int   // of the cheapest chain to a part that may get one
	next     []int // the arc of each place to try next
	entered  []bool
}

const unreached = math.MaxInt

func newExchange(t *table, from, to []int) *exchange {
	places := len(t.sizes) + len(t.decks)
	return &exchange{
		t: t, from: from, to: to, parts: len(t.sizes), best: unreached,
		cost: make([]int, places), next: make([]int, places), entered: make([]bool, places),
	}
}

// run moves extras along the cheapest chains: only if that saves something, unless it must. It
// reports whether it moved any.
func (e *exchange) run(must bool) (moved bool) {
	e.measure()
	if e.best == unreached || !must && e.best >= 0 {
		return false
	}
	for part := range e.from {
		for e.from[part] > 0 && e.cost[part] == 0 && e.follow(part) {
			e.from[part]--
			e.t.total[part]--
			moved = true
		}
	}
	return moved
}

// measure finds the cost of the cheapest chain to each place.
func (e *exchange) measure() {
	var queue []int
	waiting := make([]bool, len(e.cost))
	for place := range e.cost {
		e.cost[place] = unreached
		if place < e.parts && e.from[place] > 0 {
			e.cost[place], waiting[place] = 0, true
			queue = append(queue, place)
		}
	}
	for len(queue) > 0 {
		place := queue[0]
		queue, waiting[place] = queue[1:], false
		for i := range e.arcs(place) {
			target, cost, open := e.arc(place, i)
			if !open || e.cost[place]+cost >= e.cost[target] {
				continue
			}
			e.cost[target] = e.cost[place] + cost
			if !waiting[target] {
				waiting[target] = true
				queue = append(queue, target)
			}
		}
	}
	for part, room := range e.to {
		if room > 0 {
			e.best = min(e.best, e.cost[part])
		}
	}
}

// follow finds a chain of the cheapest from a place on, moves an extra along it, and reports whether
// there was one.
func (e *exchange) follow(place int) bool {
	if place < e.parts && e.to[place] > 0 && e.cost[place] == e.best {
		e.to[place]--
		e.t.total[place]++
		return true
	}
	if e.entered[place] {
		return false
	}
	e.entered[place] = true
	for ; e.next[place] < e.arcs(place); e.next[place]++ {
		target, cost, open := e.arc(place, e.next[place])
		if open && e.cost[target] == e.cost[place]+cost && e.follow(target) {
			if place < e.parts {
				e.t.decks[target-e.parts].gets[place]--
			} else {
				e.t.decks[place-e.parts].gets[target]++
			}
			e.entered[place] = false
			return true
		}
	}
	return false
}

// arcs returns to how many places a chain can go on from a place.
func (e *exchange) arcs(place int) int {
	if place < e.parts {
		return len(e.t.decks)
	}
	return e.parts
}

// arc returns where a chain can go on from a place, at which cost, and whether it can.
func (e *exchange) arc(place, i int) (target, cost int, open bool) {
	if place < e.parts {
		d := &e.t.decks[i]
		if d.gets[place] > d.has[place] {
			cost = -1
		}
		return e.parts + i, cost, d.gets[place] > 0
	}
	d := &e.t.decks[place-e.parts]
	if d.gets[i] >= d.has[i] {
		cost = 1
	}
	return i, cost, int(d.gets[i]) < e.t.sizes[i]
}
