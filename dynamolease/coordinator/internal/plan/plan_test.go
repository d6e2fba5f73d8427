package plan

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Shares are floor and ceil and add up, as few partitions move as can be, and then none: whatever
// joins, leaves and crashes, and in whatever order nodes plan.
func TestPlan(t *testing.T) {
	t.Run("CO1", rapid.MakeCheck(func(t *rapid.T) {
		f := newFleet(rapid.IntRange(1, 2000).Draw(t, "partitions"), rapid.Uint64().Draw(t, "seed"))
		f.slow = rapid.Bool().Draw(t, "slow")
		born := 0
		f.joinSome(rapid.IntRange(1, 200).Draw(t, "members"), &born)
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			want := f.fewest()
			f.moves = 0
			f.settle(t)
			f.check(t)
			if f.moves != want {
				t.Fatalf("%d moves, %d would do", f.moves, want)
			}
			if f.moves = 0; f.settle(t) != 0 || f.moves != 0 {
				t.Fatal("not stable")
			}
			f.churn(t, &born)
		}
	}))
}

// A change of the members in the middle of the one before costs no partition its place for ever:
// all end as they should.
func TestPlanCO1InTheMiddle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newFleet(rapid.IntRange(1, 500).Draw(t, "partitions"), rapid.Uint64().Draw(t, "seed"))
		f.slow = true
		born := 0
		f.joinSome(rapid.IntRange(1, 50).Draw(t, "members"), &born)
		for range 5 {
			for range rapid.IntRange(0, 60).Draw(t, "steps") {
				f.step(f.members[f.random.IntN(len(f.members))])
				if f.random.IntN(3) == 0 {
					f.release()
				}
			}
			f.churn(t, &born)
		}
		f.settle(t)
		f.check(t)
	})
}

// When there are at least as many partitions as nodes, each has one; when not, some have none, and
// take over.
func TestPlanCO4(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.IntRange(1, 60).Draw(t, "members")
		f := newFleet(rapid.IntRange(1, 90).Draw(t, "partitions"), rapid.Uint64().Draw(t, "seed"))
		born := 0
		f.joinSome(members, &born)
		for len(f.members) > 1 {
			f.settle(t)
			idle := 0
			for _, n := range f.counts() {
				if n == 0 {
					idle++
				}
			}
			if want := max(0, len(f.members)-f.partitions); idle != want {
				t.Fatalf("%d of %d nodes have none of %d partitions, want %d", idle, len(f.members), f.partitions, want)
			}
			f.leaveSome(rapid.IntRange(1, 20).Draw(t, "leave"))
		}
	})
}

// A plan is a function of its view: neither the order of maps nor a repetition makes a difference,
// and nodes that see the same take different partitions.
func TestPlanDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newFleet(rapid.IntRange(1, 300).Draw(t, "partitions"), rapid.Uint64().Draw(t, "seed"))
		born := 0
		f.joinSome(rapid.IntRange(1, 40).Draw(t, "members"), &born)
		f.settle(t)
		f.leaveSome(rapid.IntRange(1, 20).Draw(t, "leave")) // so that there is one for each that is lacking
		taken := make(map[int]string)
		for _, member := range f.members {
			v := f.view(member)
			p, again := planOf(v), planOf(shuffled(v, f.random))
			if fmt.Sprint(p) != fmt.Sprint(again) {
				t.Fatalf("%s: %v, and then %v", member, p, again)
			}
			own := p.Take[:min(len(p.Take), max(0, p.Share-len(v.Held)))]
			for _, partition := range own {
				if other, there := taken[partition]; there {
					t.Fatalf("%s and %s both begin with partition %d", member, other, partition)
				}
				taken[partition] = member
			}
		}
	})
}

// shuffled is a view with maps that were filled in another order.
func shuffled(v View, random *rand.Rand) View {
	keys := slices.Collect(maps.Keys(v.Owners))
	random.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	owners := make(map[int]string)
	for _, k := range keys {
		owners[k] = v.Owners[k]
	}
	v.Owners = owners
	return v
}

// A node takes nothing that it is not to take, and gives up nothing that it took out of turn, or
// that is not its own.
func TestPlanBarred(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		partitions := rapid.IntRange(1, 200).Draw(t, "partitions")
		f := newFleet(partitions, rapid.Uint64().Draw(t, "seed"))
		born := 0
		f.joinSome(rapid.IntRange(1, 10).Draw(t, "members"), &born)
		for _, member := range f.members {
			f.excluded[member] = make(map[int]bool)
			for range f.random.IntN(partitions) {
				f.excluded[member][f.random.IntN(partitions)] = true
			}
		}
		f.settle(t)
		for partition, owner := range f.owners {
			if f.excluded[owner][partition] {
				t.Fatalf("%s has partition %d, which it excludes", owner, partition)
			}
		}
		f.joinSome(5, &born)
		for _, member := range f.members {
			v := f.view(member)
			v.Pinned = make(map[int]bool)
			for _, partition := range v.Held {
				v.Pinned[partition] = f.random.IntN(2) == 0
			}
			for _, partition := range planOf(v).Give {
				if v.Pinned[partition] || !slices.Contains(v.Held, partition) {
					t.Fatalf("%s gives up %d", member, partition)
				}
			}
		}
	})
}

// A node that is no member gives up all, and takes nothing.
func TestPlanOfNoMember(t *testing.T) {
	p := planOf(View{Node: "a", Members: membersOf([]string{"b"}, 4), Held: []int{0, 1}, Owners: map[int]string{0: "a", 1: "a"}})
	if p.Share != 0 || len(p.Give) != 2 || len(p.Take) != 0 {
		t.Errorf("%+v", p)
	}
	p = planOf(View{Node: "a", Held: []int{0, 1}, Owners: map[int]string{0: "a", 1: "a"}})
	if p.Share != 0 || len(p.Give) != 2 || len(p.Take) != 0 {
		t.Errorf("without members: %+v", p)
	}
}

// Owners of partitions that are not there any more, and of nodes that nobody knows, count for
// nothing.
func TestPlanOfStrangeOwners(t *testing.T) {
	p := planOf(View{Node: "a", Members: membersOf([]string{"a", "b"}, 4), Held: []int{0}, Owners: map[int]string{0: "a", 1: "gone", 2: "", 9: "b"}})
	if p.Share != 2 || len(p.Give) != 0 || !slices.Equal(p.Take, []int{3}) || p.Free != 1 {
		t.Errorf("%+v", p)
	}
}

// The example of the package's comment.
func TestPlanExample(t *testing.T) {
	owners := map[int]string{0: "a", 1: "a", 2: "a", 3: "a", 4: "a", 5: "b", 6: "b", 7: "b", 8: "b", 9: "b"}
	members := membersOf([]string{"a", "b", "c"}, 10)
	a := planOf(View{Node: "a", Members: members, Held: []int{0, 1, 2, 3, 4}, Owners: owners})
	b := planOf(View{Node: "b", Members: members, Held: []int{5, 6, 7, 8, 9}, Owners: owners})
	c := planOf(View{Node: "c", Members: members, Owners: owners})
	if a.Share != 4 || len(a.Give) != 1 || b.Share != 3 || len(b.Give) != 2 || c.Share != 3 || len(c.Take) != 0 {
		t.Errorf("a %+v, b %+v, c %+v", a, b, c)
	}
}
