package plan

import (
	"fmt"
	"slices"
	"testing"
)

// Whatever a node sees: shares differ by one at the most and add up to all partitions, a node
// gives up only what it has and is not to keep, and takes only what is free.
func FuzzPlan(f *testing.F) {
	f.Add(10, 3, 0, []byte{1, 1, 1, 1, 1, 2, 2, 2, 2, 2})
	f.Add(3, 7, 2, []byte{})
	f.Add(1, 1, 0, []byte{0xff})
	f.Add(40, 5, 9, []byte{1, 0x41, 0x81, 0xc1, 6, 7, 0, 3, 0x42})
	f.Add(5, 0, 0, []byte{1, 2, 1, 2, 9, 9, 9, 9})
	f.Fuzz(func(t *testing.T, partitions, members, me int, rows []byte) {
		partitions, members, me = 1+limit(partitions, 300), limit(members, 40), limit(me, 45)
		v := fuzzView(partitions, members, me, rows)
		p := planOf(v)
		checkShares(t, v, partitions)
		for _, partition := range p.Give {
			if !slices.Contains(v.Held, partition) || v.Pinned[partition] {
				t.Errorf("%+v gives %d", v, partition)
			}
		}
		owned := func(partition int) bool {
			_, ok := v.Owners[partition]
			return ok || slices.Contains(v.Held, partition)
		}
		for _, partition := range p.Take {
			if partition < 0 || partition >= partitions || owned(partition) || v.Barred[partition] {
				t.Errorf("%+v takes %d", v, partition)
			}
		}
		for _, list := range [][]int{p.Give, p.Take} {
			if len(slices.Compact(slices.Sorted(slices.Values(list)))) != len(list) {
				t.Errorf("%+v has a partition twice: %v", v, list)
			}
		}
		if len(p.Give) > 0 && len(p.Take) > 0 || len(v.Held)-len(p.Give) < p.Share && len(p.Give) > 0 {
			t.Errorf("%+v gives %v and takes %v with a share of %d", v, p.Give, p.Take, p.Share)
		}
	})
}

// checkShares checks the shares that follow from what a node sees.
func checkShares(t *testing.T, v View, partitions int) {
	t.Helper()
	if len(v.Members) == 0 {
		return
	}
	sum := 0
	for i, share := range Shares([]Group{{Name: "orders", Members: v.Members, Count: v.Count()}})[0] {
		sum += share
		if least := partitions / len(v.Members); share != least && share != least+1 {
			t.Errorf("%+v: the share of %s is %d", v, v.Members[i].Name, share)
		}
	}
	if sum != partitions {
		t.Errorf("%+v: shares add up to %d", v, sum)
	}
}

// fuzzView is what a node sees of partitions whose rows these bytes are: the low bits say who owns
// one, where 0 is nobody and some are no members, and the high ones that it is barred or pinned.
// Rows beyond the partitions are of a larger group.
func fuzzView(partitions, members, me int, rows []byte) View {
	name := func(i int) string { return fmt.Sprintf("n%02d", i) }
	v := View{Node: name(me), Owners: make(map[int]string), Barred: make(map[int]bool), Pinned: make(map[int]bool)}
	for i := range members {
		v.Members = append(v.Members, Member{Name: name(i), Partitions: partitions})
	}
	for partition, row := range rows {
		switch owner := int(row&0x3f) - 1; {
		case owner < 0:
		case name(owner) == v.Node && partition < partitions && row&0x40 == 0:
			v.Held = append(v.Held, partition)
		case owner < 60:
			v.Owners[partition] = name(owner)
		default:
			v.Owners[partition] = "" // a former process of this node
		}
		if row&0x40 != 0 {
			v.Barred[partition] = true
		}
		if row&0x80 != 0 {
			v.Pinned[partition] = true
		}
	}
	return v
}

// limit brings a number between 0 and n-1.
func limit(number, n int) int { return (number%n + n) % n }
