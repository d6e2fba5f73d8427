package plan

import "sort"

// A Member is a node that takes part in a group, and the partitions that it may take.
type Member struct {
	Name       string
	Partitions int      // it may take the partitions 0 to Partitions-1
	Except     [][2]int // but not these: runs of partitions, the first and the last of each, in order
}

// May reports whether the member may take a partition.
func (m Member) May(partition int) bool {
	i := sort.Search(len(m.Except), func(i int) bool { return m.Except[i][1] >= partition })
	return partition < m.Partitions && (i == len(m.Except) || m.Except[i][0] > partition)
}

// cap returns how many partitions the member may take.
func (m Member) cap() int {
	n := m.Partitions
	for _, run := range m.Except {
		if run[0] < m.Partitions {
			n -= min(run[1], m.Partitions-1) - run[0] + 1
		}
	}
	return n
}

// Equal reports whether two members are one node that may take the same partitions.
func (m Member) Equal(other Member) bool {
	if m.Name != other.Name || m.Partitions != other.Partitions || len(m.Except) != len(other.Except) {
		return false
	}
	for i, run := range m.Except {
		if run != other.Except[i] {
			return false
		}
	}
	return true
}

// most returns the greatest number of partitions that one of the members has.
func most(members []Member) (partitions int) {
	for _, m := range members {
		partitions = max(partitions, m.Partitions)
	}
	return partitions
}
