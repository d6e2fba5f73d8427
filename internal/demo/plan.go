package demo

// A situation is what a worker sees when it plans.
type situation struct {
	me      int          // its place among the members
	members int          // how many workers there are
	done    map[int]bool // partitions that have a result
	owned   map[int]bool // partitions that are leased to others
	mine    []int        // partitions that it holds and that are not done
}

// A plan is what a worker does about its share: one of the two, or nothing.
type plan struct {
	giveBack int   // how many partitions to release
	take     []int // which partitions to acquire
}

// plan shares the partitions that are not done evenly, rounded up. A worker that has just one too many keeps it, which it
// has counted before another one could. Each worker begins to take at another place, so that they do not race for the
// same partitions.
//
// With 64 partitions of which 4 are done, 3 members have a share of 20. One that holds 18 takes the first 2 free ones
// from its place on: 0, 21 or 42.
func (s situation) plan() plan {
	share := ceilDiv(Partitions-len(s.done), s.members)
	missing := share - len(s.mine)
	if missing <= 0 {
		return plan{giveBack: max(0, -missing-1)}
	}
	mine := make(map[int]bool, len(s.mine))
	for _, p := range s.mine {
		mine[p] = true
	}
	var take []int
	first := s.me * Partitions / s.members
	for i := range Partitions {
		p := (first + i) % Partitions
		if len(take) < missing && !s.done[p] && !s.owned[p] && !mine[p] {
			take = append(take, p)
		}
	}
	return plan{take: take}
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
