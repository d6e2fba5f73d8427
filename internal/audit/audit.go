// Package audit says how seldom a node looks at the owners of a group when there is no reason to.
//
// Whoever frees a partition out of turn signals the others, so a look without a reason finds only what nobody has told of,
// such as rows that somebody has changed by hand. It costs in proportion to the number of leases, and so it is as rare as
// it is dear: it adds some three hundredths to what the rounds of a group read, whatever the number of its leases. It is more with
// so few that ten rounds are the least (a tenth for ten leases), and with so many that two hours are the most.
package audit

import "time"

const (
	least   = 10            // rounds
	longest = 2 * time.Hour // whatever it costs
)

// Rounds is between how many rounds a node looks at the owners of a group of so many partitions: from each as many as there
// are partitions to three times as many, at the least 10, and no more than there are in two hours.
func Rounds(partitions int, interval time.Duration) (from, to int) {
	most := max(3*least, int(longest/interval))
	from, to = max(least, partitions), max(3*least, 3*partitions)
	return min(from, most/2), min(to, most)
}
