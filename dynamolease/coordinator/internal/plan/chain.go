package plan

import (
	"maps"
	"slices"
)

// links returns the partitions that the node gives up for others although it is not above its share.
//
// A member above its share may have nothing that one below its share may take. A third one, which has
// its share, then gives up what that one may take, and gets from the first one what it may take itself.
// Only members that may take different partitions need that.
func (v View) links(me int, shares, lacks []int) (give []int) {
	left, count, held := slices.Clone(lacks), v.Count(), v.byOwner()
	var stuck []int // members that have more than they can give up
	for i, m := range v.Members {
		surplus := count[m.Name] - shares[i]
		if n := len(v.meet(held[m.Name], surplus, left)); surplus > 0 {
			for range surplus - n {
				stuck = append(stuck, i)
			}
		}
	}
	for to := 0; to < len(left) && len(stuck) > 0; to++ {
		for left[to] > 0 {
			by, partition := v.link(stuck[0], to, shares, count, held)
			if by < 0 {
				break
			}
			held[v.Members[by].Name] = slices.DeleteFunc(held[v.Members[by].Name], func(p int) bool { return p == partition })
			if by == me && !v.Pinned[partition] {
				give = append(give, partition)
			}
			left[to]--
			if stuck = stuck[1:]; len(stuck) == 0 {
				break
			}
		}
	}
	return give
}

// link returns a member that has its share, and a partition that it gives up.
func (v View) link(from, to int, shares []int, count map[string]int, held map[string][]int) (by, partition int) {
	for i, m := range v.Members {
		if count[m.Name] != shares[i] || !slices.ContainsFunc(held[v.Members[from].Name], m.May) {
			continue
		}
		if at := slices.IndexFunc(held[m.Name], v.Members[to].May); at >= 0 {
			return i, held[m.Name][at]
		}
	}
	return -1, 0
}

// byOwner returns the partitions of each node, sorted.
func (v View) byOwner() map[string][]int {
	held := make(map[string][]int)
	for _, partition := range slices.Sorted(maps.Keys(v.Owners)) {
		if owner := v.Owners[partition]; owner != v.Node {
			held[owner] = append(held[owner], partition)
		}
	}
	held[v.Node] = slices.Clone(v.Held)
	return held
}
