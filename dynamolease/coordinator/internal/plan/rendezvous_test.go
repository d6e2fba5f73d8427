package plan

import (
	"fmt"
	"slices"
	"testing"
)

// Each node is chosen about as often as any other, and another node more changes few choices.
func TestChooser(t *testing.T) {
	const nodes, partitions = 100, 20_000
	var names []string
	for i := range nodes {
		names = append(names, fmt.Sprint("node-", i))
	}
	before, after := newChooser(names), newChooser(append(slices.Clone(names), "another"))
	var counts [nodes]int
	changed := 0
	for partition := range partitions {
		i, j := before.choose(partition), after.choose(partition)
		counts[i]++
		if i != j {
			changed++
		}
	}
	if changed > partitions/10 {
		t.Errorf("%d of %d choices changed", changed, partitions)
	}
	for i, n := range counts {
		if n == 0 || n > 10*partitions/nodes {
			t.Errorf("%s was chosen %d times", names[i], n)
		}
	}
}
