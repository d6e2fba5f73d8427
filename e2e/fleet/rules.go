package fleet

import (
	"fmt"
	"time"

	"github.com/dynamolease/dynamolease/internal/resync"
)

// fair is nil when each of the nodes has its share of the partitions: P/n, rounded down or up, all of them together.
func fair(partitions int, nodes []string, holds map[string]int) error {
	least, most := partitions/len(nodes), (partitions+len(nodes)-1)/len(nodes)
	total := 0
	for _, name := range nodes {
		if n := holds[name]; n < least || n > most {
			return fmt.Errorf("%s has %d partitions, and must have %d to %d", name, n, least, most)
		}
		total += holds[name]
	}
	if total != partitions {
		return fmt.Errorf("%d of %d partitions are with the nodes", total, partitions)
	}
	return nil
}

// fewest is the least possible number of partitions that must come to another node until nodes that have so many of them
// have their shares.
func fewest(partitions int, nodes []string, holds map[string]int) int {
	least, rest := partitions/len(nodes), partitions%len(nodes)
	stay := 0
	for _, name := range nodes {
		stay += min(holds[name], least)
		if holds[name] > least && rest > 0 {
			stay++
			rest--
		}
	}
	return partitions - stay
}

// budget is how many requests a node may make in so many quiet rounds: a heartbeat and the members each, and, in those after
// what went before and in a resync now and then, the owners and their sessions. More partitions do not make it more, where
// leases are in sessions.
func budget(rounds, renewals, partitions int, interval time.Duration) int {
	seldom, _ := resync.Rounds(partitions, interval)
	return rounds*(2+renewals) + 2*(rounds/seldom+5)
}
