package coordinator

import "slices"

// maxExcludedRuns is how many runs of partitions a node may exclude, of all groups together. The
// member's row tells them to the other nodes.
const maxExcludedRuns = 1000

// runsOf returns the runs of numbers in a list: the first and the last of each, in order.
func runsOf(list []int) (runs [][2]int) {
	for _, number := range slices.Compact(slices.Sorted(slices.Values(list))) {
		if n := len(runs); n > 0 && runs[n-1][1] == number-1 {
			runs[n-1][1] = number
		} else {
			runs = append(runs, [2]int{number, number})
		}
	}
	return runs
}
