package plan

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"pgregory.net/rapid"
	"slices"
)

// membersOf returns members that may all take the partitions of a group.
func membersOf(names []string, partitions int) (members []Member) {
	for _, name := range names {
		members = append(members, Member{Name: name, Partitions: partitions})
	}
	return members
}

// planOf returns the plan of a node that takes part in one group alone.
func planOf(v View) Plan {
	return New(v, Shares([]Group{{Name: "orders", Members: v.Members, Count: v.Count()}})[0])
}

// A fleet is nodes that plan, each on its own, on one map of owners.
type fleet struct {
	partitions int
	members    []string // sorted
	owners     map[int]string
	draining   map[int]bool // given up, and not released yet
	excluded   map[string]map[int]bool
	random     *rand.Rand
	slow       bool // what is given up is released some time later
	moves      int
}

func newFleet(partitions int, seed uint64) *fleet {
	return &fleet{
		partitions: partitions, owners: make(map[int]string), draining: make(map[int]bool),
		excluded: make(map[string]map[int]bool), random: rand.New(rand.NewPCG(seed, 1)),
	}
}

func (f *fleet) join(name string) {
	f.members = append(f.members, name)
	slices.Sort(f.members)
}

// leave takes a node and what it had away, as a crash or a graceful end does.
func (f *fleet) leave(name string) {
	f.members = slices.DeleteFunc(f.members, func(m string) bool { return m == name })
	for partition, owner := range f.owners {
		if owner == name {
			delete(f.owners, partition)
			delete(f.draining, partition)
		}
	}
}

func (f *fleet) view(name string) View {
	v := View{Node: name, Members: membersOf(f.members, f.partitions), Owners: maps.Clone(f.owners), Barred: maps.Clone(f.excluded[name])}
	if v.Barred == nil {
		v.Barred = make(map[int]bool)
	}
	for partition := range f.partitions {
		switch {
		case f.owners[partition] != name:
		case f.draining[partition]:
			v.Barred[partition] = true
		default:
			v.Held = append(v.Held, partition)
		}
	}
	return v
}

// step has one node plan and do what it planned. It reports whether there was anything to do.
func (f *fleet) step(name string) bool {
	v := f.view(name)
	p := planOf(v)
	for _, partition := range p.Give {
		if f.slow {
			f.draining[partition] = true
		} else {
			delete(f.owners, partition)
		}
	}
	got := 0
	for _, partition := range p.Take {
		if got == p.Share-len(v.Held) {
			break
		}
		f.owners[partition] = name
		got++
	}
	f.moves += got
	return len(p.Give) > 0 || got > 0
}

// release ends one hand-over, if there is one, and reports whether there was.
func (f *fleet) release() bool {
	if len(f.draining) == 0 {
		return false
	}
	list := slices.Sorted(maps.Keys(f.draining))
	partition := list[f.random.IntN(len(list))]
	delete(f.draining, partition)
	delete(f.owners, partition)
	return true
}

// settle has all nodes plan, in random order, until nothing changes. It returns how many passes
// that took.
func (f *fleet) settle(t *rapid.T) int {
	for pass := range 10 + f.partitions {
		changed := false
		for _, i := range f.random.Perm(len(f.members)) {
			changed = f.step(f.members[i]) || changed
			if f.random.IntN(2) == 0 {
				changed = f.release() || changed
			}
		}
		for pass%3 == 2 && f.release() {
			changed = true
		}
		if !changed && len(f.draining) == 0 {
			return pass
		}
	}
	t.Fatalf("no end: %v", f.counts())
	return 0
}

func (f *fleet) counts() map[string]int {
	counts := make(map[string]int)
	for _, member := range f.members {
		counts[member] = 0
	}
	for _, owner := range f.owners {
		counts[owner]++
	}
	return counts
}

// fewest is how many partitions have to be acquired at the least: all but those that members may
// keep, which is what they have, up to the least share, and one more for as many of them as there
// are greater shares.
func (f *fleet) fewest() int {
	least, more := f.partitions/len(f.members), f.partitions%len(f.members)
	kept := 0
	for _, n := range f.counts() {
		kept += min(n, least)
		if n > least && more > 0 {
			kept++
			more--
		}
	}
	return f.partitions - kept
}

func (f *fleet) check(t *rapid.T) {
	least, more := f.partitions/len(f.members), f.partitions%len(f.members)
	sum := 0
	for member, n := range f.counts() {
		sum += n
		switch {
		case n == least+1:
			more--
		case n != least:
			t.Fatalf("%s has %d of %d partitions among %d", member, n, f.partitions, len(f.members))
		}
	}
	if sum != f.partitions || more != 0 {
		t.Fatalf("%d of %d partitions have an owner, %d greater shares are left", sum, f.partitions, more)
	}
}

// churn is one random change of the members.
func (f *fleet) churn(t *rapid.T, born *int) {
	n := rapid.IntRange(1, 20).Draw(t, "how many")
	switch rapid.SampledFrom([]string{"join", "leave", "both"}).Draw(t, "what") {
	case "join":
		f.joinSome(n, born)
	case "leave":
		f.leaveSome(n)
	default:
		f.leaveSome(n)
		f.joinSome(n, born)
	}
}

func (f *fleet) joinSome(n int, born *int) {
	for range min(n, 200-len(f.members)) {
		*born++
		f.join(fmt.Sprintf("n%05d", (*born*7919)%100_000)) // before and after those that are there
	}
}

func (f *fleet) leaveSome(n int) {
	for range min(n, len(f.members)-1) {
		f.leave(f.members[f.random.IntN(len(f.members))])
	}
}
