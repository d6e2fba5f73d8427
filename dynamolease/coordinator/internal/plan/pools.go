package plan

import (
	"cmp"
	"slices"
)

// A pool is the members of a group that have one share, but for some of them that have one
// partition more: the extras of the pool.
//
// Where all nodes have one number of partitions and exclude none, a group is one pool: P/n
// partitions, and P mod n extras.
type pool struct {
	group   int   // its index
	members []int // indices in the members of the group, in order
	least   int
	extras  int // at most as many as members
}

// poolsOf divides the members of a group into pools, so that shares are as equal as can be.
//
// Members with a lower number of partitions can't take the tail. If those of them that have c
// partitions at the most, all together, would have more than c, they have exactly these c, and the
// others have the tail. So the pools follow the lower hull of the numbers of partitions over the
// numbers of members.
func poolsOf(group int, members []Member) (pools []pool) {
	order := make([]int, len(members))
	uniform := true
	for i := range members {
		order[i] = i
		uniform = uniform && members[i].Partitions == members[0].Partitions && len(members[i].Except) == 0
	}
	if len(members) == 0 {
		return nil
	}
	if uniform {
		n, p := len(members), members[0].Partitions
		return []pool{{group: group, members: order, least: p / n, extras: p % n}}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(members[a].Partitions, members[b].Partitions) })
	for from := 0; len(order) > 0; {
		best := 0
		for n := 1; n <= len(order); n++ {
			last := n == len(order) || members[order[n]].Partitions > members[order[n-1]].Partitions
			if last && (best == 0 || (members[order[n-1]].Partitions-from)*best <= (members[order[best-1]].Partitions-from)*n) {
				best = n
			}
		}
		to := members[order[best-1]].Partitions
		pools = append(pools, tierOf(group, members, order[:best], to-from)...)
		from, order = to, order[best:]
	}
	return pools
}

// tierOf divides members that share some partitions evenly. A member that may take fewer than its
// share has what it may take. Of the others, those of one number of partitions make a pool, which
// has its part of the extras.
func tierOf(group int, members []Member, tier []int, partitions int) (pools []pool) {
	rest := slices.Clone(tier)
	slices.SortStableFunc(rest, func(a, b int) int { return cmp.Compare(members[a].cap(), members[b].cap()) })
	for len(rest) > 0 && members[rest[0]].cap() <= partitions/len(rest) {
		pools = append(pools, pool{group: group, members: rest[:1], least: members[rest[0]].cap()})
		partitions -= members[rest[0]].cap()
		rest = rest[1:]
	}
	slices.SortFunc(rest, func(a, b int) int {
		return cmp.Or(cmp.Compare(members[a].Partitions, members[b].Partitions), cmp.Compare(a, b))
	})
	for from, dealt := 0, 0; from < len(rest); {
		to := from + 1
		for to < len(rest) && members[rest[to]].Partitions == members[rest[from]].Partitions {
			to++
		}
		least, extras := partitions/len(rest), partitions%len(rest)
		p := pool{group: group, members: rest[from:to], least: least, extras: extras*to/len(rest) - dealt}
		pools = append(pools, p)
		dealt += p.extras
		from = to
	}
	return pools
}
