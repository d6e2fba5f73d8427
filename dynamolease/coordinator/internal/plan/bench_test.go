package plan

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

// Measures how long one node plans, of ten that share partitions: in a quiet fleet, and when the
// node has just joined and takes its share. The benchmark command runs this one by its name.
func BenchmarkPlanSizes(b *testing.B) {
	const members = 10
	for _, partitions := range []int{100, 1000, 10_000, 100_000} {
		v := View{Partitions: partitions, Owners: make(map[int]string)}
		for i := range members {
			v.Members = append(v.Members, fmt.Sprintf("node-%d", i))
		}
		for partition := range partitions {
			v.Owners[partition] = v.Members[partition%members]
		}
		steady, join := v, v
		steady.Node = v.Members[0]
		for partition := 0; partition < partitions; partition += members {
			steady.Held = append(steady.Held, partition)
		}
		// What the others give up for the newcomer is free by now.
		join.Node, join.Members, join.Owners = "node-x", append(v.Members, "node-x"), make(map[int]string)
		for partition, owner := range v.Owners {
			if partition%(members+1) != 0 {
				join.Owners[partition] = owner
			}
		}
		for _, c := range []struct {
			name string
			view View
		}{{"steady", steady}, {"join", join}} {
			b.Run(fmt.Sprintf("%s/%d", c.name, partitions), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					New(c.view)
				}
			})
		}
	}
}

func BenchmarkPlan(b *testing.B) {
	const members, partitions = 1000, 100_000
	views := make(map[string]View)
	var names []string
	for i := range members {
		names = append(names, fmt.Sprintf("node-%04d", i))
	}
	balanced := View{Node: names[500], Members: names, Partitions: partitions, Owners: make(map[int]string)}
	for partition := range partitions {
		owner := names[partition%members]
		balanced.Owners[partition] = owner
		if owner == balanced.Node {
			balanced.Held = append(balanced.Held, partition)
		}
	}
	views["balanced"] = balanced
	views["cold"] = View{Node: names[500], Members: names, Partitions: partitions}

	joined := balanced
	joined.Members = append(slices.Clone(names), "node-9999")
	views["join"] = joined
	joiner := joined
	joiner.Node, joiner.Held, joiner.Owners = "node-9999", nil, maps.Clone(joined.Owners)
	for partition := range partitions / members {
		delete(joiner.Owners, partition*members+partition) // what the others have given up
	}
	views["joiner"] = joiner

	for _, name := range slices.Sorted(maps.Keys(views)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				New(views[name])
			}
		})
	}
}
