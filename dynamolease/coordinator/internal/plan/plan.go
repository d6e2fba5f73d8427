// Package plan decides how groups of partitions are shared among nodes.
//
// A plan is a function of what a node knows. Nodes do not talk to each other: those that see the
// same members and owners make plans that fit together.
//
// Every member of a group has a share of P/n partitions, rounded down, and P mod n of the members have
// one more. [Shares] decides for all groups together which. A node above its share gives up what other
// nodes lack and cannot get otherwise; a node below its share takes free partitions: [New]. So shares
// differ by one at most, in each group and over all groups, and as few partitions move as possible.
//
// For example, a has partitions 0-4 of 10 and b has 5-9, and c joins. One of the three has a share of
// 4, a or b: say a. Then a gives up one partition, b gives up two, and c takes these three.
package plan

import (
	"cmp"
	"slices"
)

// A View is what one node knows of a group when it plans.
type View struct {
	Node    string         // the node that plans
	Members []Member       // nodes that take part in the group, sorted by name; Node need not be one
	Held    []int          // partitions that the node works and is not giving up, sorted
	Owners  map[int]string // the node of each live lease; those of Held need not be there
	Barred  map[int]bool   // partitions that the node must not take now
	Pinned  map[int]bool   // partitions that the node keeps although they are beyond its share
}

// A Plan is what the node of a view does about it.
type Plan struct {
	Share int   // how many partitions the node should have, as far as others give them up and need them
	Give  []int // partitions to give up, in this order
	Take  []int // free partitions to take, in this order, until the node has its share
	Stray []int // free partitions to take besides: no member below its share may take them
	Free  int   // how many partitions that some member may take have no owner

	Lacking int  // how many partitions the members have less than their shares
	Mixed   bool // not all members may take the same partitions, so that some move in several steps
}

// New returns the plan of a view, by the shares of its members.
func New(v View, shares []int) Plan {
	me, member := v.me()
	free := v.unowned()
	p := Plan{Free: len(free), Mixed: !v.uniform()}
	if !member {
		p.Give = v.giveOrder()
		return p
	}
	lacks := lacksOf(v.Members, shares, v.Count())
	for _, n := range lacks {
		p.Lacking += n
	}
	p.Share = shares[me]
	if len(free) > 0 {
		m := match(v, me, free, lacks)
		p.Take, p.Stray = v.allowed(m.take), v.allowed(m.stray)
		lacks = m.lacks
	}
	switch surplus := len(v.Held) - p.Share; {
	case surplus > 0:
		p.Give, p.Take = v.meet(v.giveOrder(), surplus, slices.Clone(lacks)), nil
		if n := len(v.meet(v.Held, surplus, lacks)); n < surplus {
			p.Share += surplus - n
		}
	case surplus == 0:
		p.Take = nil
		if !v.uniform() {
			p.Give = v.links(me, shares, lacks)
		}
	case len(p.Take) == 0 && !v.offered(v.Members[me], shares):
		p.Share = len(v.Held)
	}
	return p
}

// Count returns how many partitions each node has.
func (v View) Count() map[string]int {
	partitions := most(v.Members)
	count := make(map[string]int, len(v.Members))
	for partition, owner := range v.Owners {
		if partition < partitions && owner != v.Node {
			count[owner]++
		}
	}
	count[v.Node] = len(v.Held)
	return count
}

// lacksOf returns how many partitions each member is below its share.
func lacksOf(members []Member, shares []int, count map[string]int) []int {
	lacks := make([]int, len(members))
	for i, m := range members {
		lacks[i] = max(0, shares[i]-count[m.Name])
	}
	return lacks
}

// unowned returns the partitions that have no owner, and that some member may take, in order.
func (v View) unowned() []int {
	partitions := most(v.Members)
	owned := make([]bool, partitions)
	for partition := range v.Owners {
		if partition < partitions {
			owned[partition] = true
		}
	}
	for _, partition := range v.Held {
		if partition < partitions {
			owned[partition] = true
		}
	}
	var free []int
	for partition, taken := range owned {
		if !taken && v.Takeable(partition) {
			free = append(free, partition)
		}
	}
	return free
}

// Partitions returns the greatest number of partitions that one of the members has.
func (v View) Partitions() int { return most(v.Members) }

// Takeable reports whether some member may take a partition.
func (v View) Takeable(partition int) bool {
	return slices.ContainsFunc(v.Members, func(m Member) bool { return m.May(partition) })
}

// TakesPart reports whether the node is one of the members.
func (v View) TakesPart() bool {
	_, member := v.me()
	return member
}

func (v View) me() (index int, member bool) {
	return slices.BinarySearchFunc(v.Members, v.Node, func(m Member, name string) int { return cmp.Compare(m.Name, name) })
}

// Free returns the partitions that have no owner, and that the node may take, in order.
func (v View) Free() []int {
	me, member := v.me()
	if !member {
		return nil
	}
	return v.allowed(slices.DeleteFunc(v.unowned(), func(partition int) bool { return !v.Members[me].May(partition) }))
}

// allowed returns those partitions of a list that are not barred.
func (v View) allowed(list []int) []int {
	return slices.DeleteFunc(list, func(partition int) bool { return v.Barred[partition] })
}

// uniform reports whether all members may take the same partitions.
func (v View) uniform() bool {
	return !slices.ContainsFunc(v.Members, func(m Member) bool { m.Name = v.Members[0].Name; return !m.Equal(v.Members[0]) })
}

// meet returns the first partitions of a list, n at the most, that members lack and may take. It counts
// down what these lack.
func (v View) meet(list []int, n int, lacks []int) (needed []int) {
	first := 0
	for _, partition := range list {
		for first < len(lacks) && lacks[first] == 0 {
			first++
		}
		if len(needed) >= n || first == len(lacks) {
			break
		}
		for i := first; i < len(lacks); i++ {
			if lacks[i] > 0 && v.Members[i].May(partition) {
				lacks[i]--
				needed = append(needed, partition)
				break
			}
		}
	}
	return needed
}

// offered reports whether a member above its share has a partition that the given one may take.
func (v View) offered(to Member, shares []int) bool {
	count, above := v.Count(), make(map[string]bool)
	for i, m := range v.Members {
		above[m.Name] = count[m.Name] > shares[i]
	}
	for partition, owner := range v.Owners {
		stays := slices.ContainsFunc(v.Members, func(m Member) bool { return m.Name == owner }) && !above[owner]
		if !stays && to.May(partition) {
			return true
		}
	}
	return false
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
