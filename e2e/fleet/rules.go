package fleet

import (
	"fmt"
	"time"

	"github.com/dynamolease/dynamolease/internal/resync"
)

// fair returns nil if each of the nodes has its share of the partitions, P/n rounded down or up,
// and all of them together have all partitions.
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
		return fmt.Errorf("the nodes have %d of %d partitions", total, partitions)
	}
	return nil
}

// fewest returns the least number of partitions that must move, for the nodes to have their shares.
// holds gives how many partitions each node has now.
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

// budget returns how many requests a node may make in a number of quiet rounds. In each round it
// sends a heartbeat and reads the members. It also reads the owners and their sessions, in the
// first rounds and in each resync. If leases are in sessions, more partitions do not mean more
// requests.
func budget(rounds, renewals, partitions int, interval time.Duration) int {
	seldom, _ := resync.Rounds(partitions, interval)
	return rounds*(2+renewals) + 2*(rounds/seldom+5)
}
