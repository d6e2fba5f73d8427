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
		v := View{Owners: make(map[int]string)}
		for i := range members {
			v.Members = append(v.Members, Member{Name: fmt.Sprintf("node-%d", i), Partitions: partitions})
		}
		for partition := range partitions {
			v.Owners[partition] = v.Members[partition%members].Name
		}
		steady, join := v, v
		steady.Node = v.Members[0].Name
		for partition := 0; partition < partitions; partition += members {
			steady.Held = append(steady.Held, partition)
		}
		// What the others give up for the newcomer is free by now.
		join.Node, join.Members, join.Owners = "node-x", append(v.Members, Member{Name: "node-x", Partitions: partitions}), make(map[int]string)
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
					planOf(c.view)
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
	balanced := View{Node: names[500], Members: membersOf(names, partitions), Owners: make(map[int]string)}
	for partition := range partitions {
		owner := names[partition%members]
		balanced.Owners[partition] = owner
		if owner == balanced.Node {
			balanced.Held = append(balanced.Held, partition)
		}
	}
	views["balanced"] = balanced
	views["cold"] = View{Node: names[500], Members: membersOf(names, partitions)}

	joined := balanced
	joined.Members = membersOf(append(slices.Clone(names), "node-9999"), partitions)
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
				planOf(views[name])
			}
		})
	}
}

// Measures how long one node decides the shares of a thousand nodes in a hundred groups.
func BenchmarkShares(b *testing.B) {
	const members, groups = 1000, 100
	var names []string
	for i := range members {
		names = append(names, fmt.Sprintf("node-%04d", i))
	}
	made := func(names []string) (list []Group) {
		for i := range groups {
			list = append(list, Group{Name: fmt.Sprint("g", i), Members: membersOf(names, 1300+37*i), Count: make(map[string]int)})
		}
		return list
	}
	settled := func() []Group {
		list := made(names)
		for i, shares := range Shares(list) {
			for m, share := range shares {
				list[i].Count[names[m]] = share
			}
		}
		return list
	}
	views := map[string][]Group{"cold": made(names), "settled": settled(), "join": settled(), "leave": settled(), "by name": made(names)}
	for i := range groups {
		views["join"][i].Members = membersOf(append(slices.Clone(names), "node-9999"), 1300+37*i)
		views["leave"][i].Members = views["leave"][i].Members[100:]
		for m, name := range names { // each group by itself, and the first names have the extras
			partitions := 1300 + 37*i
			views["by name"][i].Count[name] = partitions / members
			if m < partitions%members {
				views["by name"][i].Count[name]++
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(views)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Shares(views[name])
			}
		})
	}
}
