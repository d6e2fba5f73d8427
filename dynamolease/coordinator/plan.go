package coordinator

import (
	"cmp"
	"slices"
)

// A view is what one node knows of a group when it plans.
type view struct {
	me         string
	members    []string // nodes that take part in the group, sorted; without me when others are not to count on this node
	partitions int
	mine       []int          // partitions that this node works and is not giving up
	owners     map[int]string // partitions that have a live lease, and whose; those in mine need not be there
	barred     map[int]bool   // partitions that this node can't take now: its own that are ending, or excluded
	pinned     map[int]bool   // partitions that this node took out of turn and is to keep for some time
}

// A plan is what a node is to do about a view.
type plan struct {
	share int   // how many partitions this node is to have
	give  []int // partitions to give up, in this order
	take  []int // free partitions that it may take, in this order, until it has its share
	free  int   // how many partitions have no owner
}

// newPlan is the whole of rebalancing. It is a function of the view alone, so that nodes that see the same agree without
// a word to each other.
//
// Every member is to have P/n partitions, rounded down, and P mod n of them one more: those that have that many already,
// and of the others the first by name. (Not those that have the most: that would change while nodes take what they lack
// and give up what is too much, and partitions would move for nothing.) A node above its share gives up what others lack and cannot get otherwise; a
// node below takes what is free. So shares differ by one at the most, and as few partitions move as can be.
//
// For example, 10 partitions with a: 0-4 and b: 5-9, and c joins. Shares: a 4, b 3, c 3. a gives up one and b two; c
// takes these three.
func newPlan(v view) plan {
	count := v.count()
	shares := newShares(v.members, v.partitions, count)
	free := v.free()
	p := plan{share: shares.of(v.me), free: len(free)}
	missing := shares.missing(v.members, count)
	switch surplus := len(v.mine) - p.share; {
	case surplus > 0:
		if slices.Contains(v.members, v.me) {
			surplus = min(surplus, max(0, missing.total-len(free)))
		}
		give := v.giveUp()
		p.give = give[:min(surplus, len(give))]
	case surplus < 0:
		p.take = v.order(free, missing)
	}
	return p
}

// count is how many partitions each node has.
func (v view) count() map[string]int {
	count := make(map[string]int, len(v.members))
	for partition, owner := range v.owners {
		if partition < v.partitions && owner != v.me {
			count[owner]++
		}
	}
	count[v.me] = len(v.mine)
	return count
}

// free are the partitions without an owner, in order.
func (v view) free() []int {
	owned := make([]bool, v.partitions)
	for partition := range v.owners {
		if partition < v.partitions {
			owned[partition] = true
		}
	}
	for _, partition := range v.mine {
		owned[partition] = true
	}
	var free []int
	for partition, taken := range owned {
		if !taken && !v.barred[partition] {
			free = append(free, partition)
		}
	}
	return free
}

// giveUp is the order in which this node gives partitions up: what is its own by hashing last, and what it took out of
// turn not at all.
func (v view) giveUp() []int {
	me := hashText(v.me)
	order := slices.DeleteFunc(slices.Clone(v.mine), func(partition int) bool { return v.pinned[partition] })
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(score(me, a), score(me, b)), cmp.Compare(a, b))
	})
	return order
}

// order is the order in which this node tries free partitions: first its own, so that nodes that see the same do not race
// for one, and then those of others, who may not come.
//
// Each node that lacks some has as many of its own as it lacks: those that fall to it by hashing, and of what falls to
// nodes that have enough then, a part.
func (v view) order(free []int, missing missing) []int {
	chooser, left := newChooser(missing.members), slices.Clone(missing.lack)
	var own, others, spare []int
	for _, partition := range free {
		node := chooser.choose(partition)
		switch {
		case left[node] == 0:
			spare = append(spare, partition)
			continue
		case missing.members[node] == v.me:
			own = append(own, partition)
		default:
			others = append(others, partition)
		}
		left[node]--
	}
	for node, name := range missing.members {
		n := min(left[node], len(spare))
		if name == v.me {
			own = append(own, spare[:n]...)
		} else {
			others = append(others, spare[:n]...)
		}
		spare = spare[n:]
	}
	others = append(others, spare...)
	begin := 0
	if len(others) > 0 {
		begin = int(hashText(v.me) % uint64(len(others))) // each node somewhere else
	}
	return slices.Concat(own, others[begin:], others[:begin])
}

// shares says how many partitions each member is to have.
type shares struct {
	least   int             // that every member has
	more    map[string]bool // members that have one more
	members map[string]bool
}

func newShares(members []string, partitions int, count map[string]int) shares {
	if len(members) == 0 {
		return shares{}
	}
	s := shares{least: partitions / len(members), more: make(map[string]bool), members: make(map[string]bool, len(members))}
	ranked := slices.Clone(members)
	others := func(member string) int { // who has no more than the least comes after who has
		if count[member] > s.least {
			return 0
		}
		return 1
	}
	slices.SortFunc(ranked, func(a, b string) int {
		return cmp.Or(cmp.Compare(others(a), others(b)), cmp.Compare(a, b))
	})
	for _, member := range ranked[:partitions%len(members)] {
		s.more[member] = true
	}
	for _, member := range members {
		s.members[member] = true
	}
	return s
}

func (s shares) of(member string) int {
	switch {
	case !s.members[member]:
		return 0
	case s.more[member]:
		return s.least + 1
	default:
		return s.least
	}
}

// missing is who lacks how much.
type missing struct {
	members []string
	lack    []int // of each
	total   int
}

func (s shares) missing(members []string, count map[string]int) missing {
	var m missing
	for _, member := range members {
		if lack := s.of(member) - count[member]; lack > 0 {
			m.members = append(m.members, member)
			m.lack = append(m.lack, lack)
			m.total += lack
		}
	}
	return m
}
