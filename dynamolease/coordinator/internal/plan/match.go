package plan

import "slices"

// A matching says which members free partitions are meant for.
type matching struct {
	take  []int // the order in which this node tries them while it is below its share
	stray []int // those that no member below its share may take, and that this node is to take
	lacks []int // how many partitions each member lacks beyond the free ones that are meant for it
}

// match gives free partitions to the members that lack some. Nodes that see the same do not race for
// one: each begins with its own, and then tries those of other nodes, which may not come for them.
//
// Each node that lacks partitions has as many of its own as it lacks: first of those that not all
// members may take, then those that rendezvous hashing gives it, and a part of those that hashing
// gives to nodes that have enough by then. What not all may take goes to those that may take the fewest.
func match(v View, me int, free, lacks []int) matching {
	m := matching{lacks: slices.Clone(lacks)}
	var own, others []int
	give := func(partition, to int) {
		m.lacks[to]--
		if to == me {
			own = append(own, partition)
		} else {
			others = append(others, partition)
		}
	}
	all, some := v.forAll(free)
	slices.Reverse(some) // the last ones may be taken by the fewest
	for _, partition := range some {
		if to := v.first(partition, m.lacks); to == me {
			give(partition, to)
		} else if to >= 0 {
			m.lacks[to]-- // and none of the others tries it: it may have given it up for that one
		} else if v.drawn(partition) == me {
			m.stray = append(m.stray, partition)
		}
	}
	var lacking []int
	var names []string
	for i, n := range m.lacks {
		if n > 0 {
			lacking, names = append(lacking, i), append(names, v.Members[i].Name)
		}
	}
	var spare []int
	if len(lacking) == 0 {
		spare, all = all, nil
	}
	chooser := newChooser(names)
	for _, partition := range all {
		if to := lacking[chooser.choose(partition)]; m.lacks[to] > 0 {
			give(partition, to)
		} else {
			spare = append(spare, partition)
		}
	}
	for _, to := range lacking {
		for m.lacks[to] > 0 && len(spare) > 0 {
			give(spare[0], to)
			spare = spare[1:]
		}
	}
	others = append(others, spare...)
	begin := 0
	if len(others) > 0 {
		begin = int(hashText(v.Node) % uint64(len(others))) // each node begins somewhere else
	}
	m.take = slices.Concat(own, others[begin:], others[:begin])
	return m
}

// forAll divides partitions into those that all members may take, and the others.
func (v View) forAll(partitions []int) (all, some []int) {
	least := v.Members[0].Partitions
	var except []Member
	for _, m := range v.Members {
		least = min(least, m.Partitions)
		if len(m.Except) > 0 {
			except = append(except, m)
		}
	}
	for _, p := range partitions {
		if p < least && !slices.ContainsFunc(except, func(m Member) bool { return !m.May(p) }) {
			all = append(all, p)
		} else {
			some = append(some, p)
		}
	}
	return all, some
}

// first returns the member that a partition goes to, of those that lack some and may take this one: one
// that may take the fewest others; -1 if there is none.
func (v View) first(partition int, lacks []int) int {
	return v.choose(partition, func(m int) bool { return lacks[m] > 0 }, func(m int) int { return v.Members[m].cap() })
}

// drawn returns the member that hashing draws a partition to, of those that may take it.
func (v View) drawn(partition int) int {
	return v.choose(partition, func(int) bool { return true }, func(int) int { return 0 })
}

// choose returns the member of the lowest rank that may take a partition, or -1. Hashing decides ties.
func (v View) choose(partition int, of func(member int) bool, rank func(member int) int) int {
	best, low, high := -1, 0, uint64(0)
	for i, m := range v.Members {
		if !of(i) || !m.May(partition) {
			continue
		}
		if r, s := rank(i), Score(m.Name, partition); best < 0 || r < low || r == low && s > high {
			best, low, high = i, r, s
		}
	}
	return best
}
