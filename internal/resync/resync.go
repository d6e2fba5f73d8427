// Package resync says how seldom a node reads the owners of a group when it has no reason to.
//
// A node that frees a partition out of turn signals the others, so a resync finds only changes that
// no node has signalled, such as rows that somebody has edited by hand. It costs in proportion to the
// number of leases, and it is as rare as it is dear: it adds some three hundredths to what the rounds
// of a group read, whatever the number of its leases. It adds more with so few leases that ten rounds
// are the least (a tenth for ten leases), and with so many that two hours are the most.
package resync

import "time"

const (
	leastRounds = 10
	longest     = 2 * time.Hour // whatever a resync costs
)

// Rounds returns between how many rounds a node reads the owners of a group of so many partitions
// without a reason: from as many as there are partitions to three times as many, but at least 10, and
// not more than two hours have.
func Rounds(partitions int, interval time.Duration) (from, to int) {
	most := max(3*leastRounds, int(longest/interval))
	from, to = max(leastRounds, partitions), max(3*leastRounds, 3*partitions)
	return min(from, most/2), min(to, most)
}
