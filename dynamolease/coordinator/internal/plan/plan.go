// Package plan decides how a group of partitions is shared among nodes.
//
// A plan is a function of a [View] alone. Nodes do not talk to each other: those that see the same
// members and owners make plans that fit together.
//
// Every member has a share of P/n partitions, rounded down, and P mod n of the members have one
// more. A node above its share gives up what other nodes lack and cannot get otherwise; a node
// below its share takes free partitions. So shares differ by one at most, and as few partitions
// move as possible.
//
// For example, a has partitions 0-4 of 10 and b has 5-9, and c joins. The shares are 4 for a, 3 for
// b and 3 for c: a gives up one partition, b gives up two, and c takes these three.
package plan

import (
	"cmp"
	"slices"
)

// A View is what one node knows of a group when it plans.
type View struct {
	Node       string         // the node that plans
	Members    []string       // nodes that take part in the group, sorted; Node need not be one
	Partitions int            // the group has the partitions 0 to Partitions-1
	Held       []int          // partitions that the node works and is not giving up, sorted
	Owners     map[int]string // the node of each live lease; those of Held need not be there
	Barred     map[int]bool   // partitions that the node must not take now
	Pinned     map[int]bool   // partitions that the node keeps although they are beyond its share
}

// A Plan is what the node of a view does about it.
type Plan struct {
	Share int   // how many partitions the node should have
	Give  []int // partitions to give up, in this order
	Take  []int // free partitions to take, in this order, until the node has its share
	Free  int   // how many partitions have no owner
}

// New returns the plan of a view.
func New(v View) Plan {
	count := v.count()
	shares := newShares(v.Members, v.Partitions, count)
	free := v.Free()
	p := Plan{Share: shares.of(v.Node), Free: len(free)}
	shortages := shares.shortages(v.Members, count)
	switch surplus := len(v.Held) - p.Share; {
	case surplus > 0:
		if slices.Contains(v.Members, v.Node) {
			surplus = min(surplus, max(0, shortages.total-len(free)))
		}
		give := v.giveOrder()
		p.Give = give[:min(surplus, len(give))]
	case surplus < 0:
		p.Take = v.takeOrder(free, shortages)
	}
	return p
}

// count returns how many partitions each node has.
func (v View) count() map[string]int {
	count := make(map[string]int, len(v.Members))
	for partition, owner := range v.Owners {
		if partition < v.Partitions && owner != v.Node {
			count[owner]++
		}
	}
	count[v.Node] = len(v.Held)
	return count
}

// Free returns the partitions that have no owner and are not barred, in order.
func (v View) Free() []int {
	owned := make([]bool, v.Partitions)
	for partition := range v.Owners {
		if partition < v.Partitions {
			owned[partition] = true
		}
	}
	for _, partition := range v.Held {
		owned[partition] = true
	}
	var free []int
	for partition, taken := range owned {
		if !taken && !v.Barred[partition] {
			free = append(free, partition)
		}
	}
	return free
}

// giveOrder returns the order in which the node gives partitions up. Those that rendezvous hashing
// draws to the node most come last, and pinned ones are left out.
func (v View) giveOrder() []int {
	node := hashText(v.Node)
	pinned := func(partition int) bool { return v.Pinned[partition] }
	order := slices.DeleteFunc(slices.Clone(v.Held), pinned)
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(score(node, a), score(node, b)), cmp.Compare(a, b))
	})
	return order
}

// takeOrder returns the order in which the node tries free partitions: first its own, so that
// nodes that see the same do not race for one, and then those of other nodes, which may not come
// for them.
//
// Each node that lacks partitions has as many of its own as it lacks: those that rendezvous hashing
// gives it, and a part of those that hashing gives to nodes that have enough by then.
func (v View) takeOrder(free []int, s shortages) []int {
	chooser, left := newChooser(s.members), slices.Clone(s.lacks)
	var own, others, spare []int
	for _, partition := range free {
		node := chooser.choose(partition)
		switch {
		case left[node] == 0:
			spare = append(spare, partition)
			continue
		case s.members[node] == v.Node:
			own = append(own, partition)
		default:
			others = append(others, partition)
		}
		left[node]--
	}
	for node, name := range s.members {
		n := min(left[node], len(spare))
		if name == v.Node {
			own = append(own, spare[:n]...)
		} else {
			others = append(others, spare[:n]...)
		}
		spare = spare[n:]
	}
	others = append(others, spare...)
	begin := 0
	if len(others) > 0 {
		begin = int(hashText(v.Node) % uint64(len(others))) // each node begins somewhere else
	}
	return slices.Concat(own, others[begin:], others[:begin])
}
