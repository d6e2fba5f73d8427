package coordinator

import (
	"fmt"
	"testing"
)

// How long one node plans, of ten that share partitions: in a quiet fleet, where the owners are read in an audit, and
// when it has just joined and takes its share. The benchmark command runs this one by its name.
func BenchmarkPlanSizes(b *testing.B) {
	const members = 10
	for _, partitions := range []int{100, 1000, 10_000, 100_000} {
		v := view{partitions: partitions, owners: make(map[int]string)}
		for i := range members {
			v.members = append(v.members, fmt.Sprintf("node-%d", i))
		}
		for partition := range partitions {
			v.owners[partition] = v.members[partition%members]
		}
		steady, join := v, v
		steady.me = v.members[0]
		for partition := 0; partition < partitions; partition += members {
			steady.mine = append(steady.mine, partition)
		}
		// What the others are to give up for the newcomer is free by now.
		join.me, join.members, join.owners = "node-x", append(v.members, "node-x"), make(map[int]string)
		for partition, owner := range v.owners {
			if partition%(members+1) != 0 {
				join.owners[partition] = owner
			}
		}
		for _, c := range []struct {
			name string
			view view
		}{{"steady", steady}, {"join", join}} {
			b.Run(fmt.Sprintf("%s/%d", c.name, partitions), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					newPlan(c.view)
				}
			})
		}
	}
}
