package plan

import (
	"cmp"
	"slices"
)

// shares are how many partitions each member should have.
type shares struct {
	least   int             // of every member
	more    map[string]bool // members that have one more
	members map[string]bool
}

// newShares gives one partition more than the least share to members that have more already, and
// then to the first of the others by name. It does not prefer those that have the most: that would
// change while nodes take what they lack and give up what they have too much, and partitions would
// move for nothing.
func newShares(members []string, partitions int, count map[string]int) shares {
	if len(members) == 0 {
		return shares{}
	}
	s := shares{
		least: partitions / len(members),
		more:  make(map[string]bool), members: make(map[string]bool, len(members)),
	}
	ranked := slices.Clone(members)
	rank := func(member string) int {
		if count[member] > s.least {
			return 0
		}
		return 1
	}
	slices.SortFunc(ranked, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
	for _, member := range ranked[:partitions%len(members)] {
		s.more[member] = true
	}
	for _, member := range members {
		s.members[member] = true
	}
	return s
}

// of returns the share of a member; 0 for a node that is none.
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

// shortages are the members that have less than their share.
type shortages struct {
	members []string
	lacks   []int // how many partitions each of them lacks
	total   int
}

func (s shares) shortages(members []string, count map[string]int) shortages {
	var list shortages
	for _, member := range members {
		if lacks := s.of(member) - count[member]; lacks > 0 {
			list.members = append(list.members, member)
			list.lacks = append(list.lacks, lacks)
			list.total += lacks
		}
	}
	return list
}
