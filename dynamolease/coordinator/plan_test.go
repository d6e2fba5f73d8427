package coordinator

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

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

func (f *fleet) view(name string) view {
	v := view{me: name, members: f.members, partitions: f.partitions, owners: maps.Clone(f.owners), barred: maps.Clone(f.excluded[name])}
	if v.barred == nil {
		v.barred = make(map[int]bool)
	}
	for partition := range f.partitions {
		switch {
		case f.owners[partition] != name:
		case f.draining[partition]:
			v.barred[partition] = true
		default:
			v.mine = append(v.mine, partition)
		}
	}
	return v
}

// step has one node plan and do what it planned. It reports whether there was anything to do.
func (f *fleet) step(name string) bool {
	v := f.view(name)
	p := newPlan(v)
	for _, partition := range p.give {
		if f.slow {
			f.draining[partition] = true
		} else {
			delete(f.owners, partition)
		}
	}
	got := 0
	for _, partition := range p.take {
		if got == p.share-len(v.mine) {
			break
		}
		f.owners[partition] = name
		got++
	}
	f.moves += got
	return len(p.give) > 0 || got > 0
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

// settle has all nodes plan, in random order, until nothing changes. It returns how many passes that took.
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

// fewest is how many partitions have to be acquired at the least: all but those that members may keep, which is what
// they have, up to the least share, and one more for as many of them as there are greater shares.
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

// Shares are floor and ceil and add up, as few partitions move as can be, and then none: whatever joins, leaves and
// crashes, and in whatever order nodes plan.
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

// A change of the members in the middle of the one before costs no partition its place for ever: all end as they should.
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

// When there are at least as many partitions as nodes, each has one; when not, some have none, and take over.
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

// A plan is a function of its view: neither the order of maps nor a repetition makes a difference, and nodes that see
// the same take different partitions.
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
			p, again := newPlan(v), newPlan(shuffled(v, f.random))
			if fmt.Sprint(p) != fmt.Sprint(again) {
				t.Fatalf("%s: %v, and then %v", member, p, again)
			}
			own := p.take[:min(len(p.take), max(0, p.share-len(v.mine)))]
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
func shuffled(v view, random *rand.Rand) view {
	keys := slices.Collect(maps.Keys(v.owners))
	random.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	owners := make(map[int]string)
	for _, k := range keys {
		owners[k] = v.owners[k]
	}
	v.owners = owners
	return v
}

// A node takes nothing that it is not to take, and gives up nothing that it took out of turn, or that is not its own.
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
			v.pinned = make(map[int]bool)
			for _, partition := range v.mine {
				v.pinned[partition] = f.random.IntN(2) == 0
			}
			for _, partition := range newPlan(v).give {
				if v.pinned[partition] || !slices.Contains(v.mine, partition) {
					t.Fatalf("%s gives up %d", member, partition)
				}
			}
		}
	})
}

// A node that is no member gives up all, and takes nothing.
func TestPlanOfNoMember(t *testing.T) {
	p := newPlan(view{me: "a", members: []string{"b"}, partitions: 4, mine: []int{0, 1}, owners: map[int]string{0: "a", 1: "a"}})
	if p.share != 0 || len(p.give) != 2 || len(p.take) != 0 {
		t.Errorf("%+v", p)
	}
	p = newPlan(view{me: "a", partitions: 4, mine: []int{0, 1}, owners: map[int]string{0: "a", 1: "a"}})
	if p.share != 0 || len(p.give) != 2 || len(p.take) != 0 {
		t.Errorf("without members: %+v", p)
	}
}

// Owners of partitions that are not there any more, and of nodes that nobody knows, count for nothing.
func TestPlanOfStrangeOwners(t *testing.T) {
	p := newPlan(view{me: "a", members: []string{"a", "b"}, partitions: 4, mine: []int{0}, owners: map[int]string{0: "a", 1: "gone", 2: "", 9: "b"}})
	if p.share != 2 || len(p.give) != 0 || !slices.Equal(p.take, []int{3}) || p.free != 1 {
		t.Errorf("%+v", p)
	}
}

// The example of newPlan's comment.
func TestPlanExample(t *testing.T) {
	owners := map[int]string{0: "a", 1: "a", 2: "a", 3: "a", 4: "a", 5: "b", 6: "b", 7: "b", 8: "b", 9: "b"}
	members := []string{"a", "b", "c"}
	a := newPlan(view{me: "a", members: members, partitions: 10, mine: []int{0, 1, 2, 3, 4}, owners: owners})
	b := newPlan(view{me: "b", members: members, partitions: 10, mine: []int{5, 6, 7, 8, 9}, owners: owners})
	c := newPlan(view{me: "c", members: members, partitions: 10, owners: owners})
	if a.share != 4 || len(a.give) != 1 || b.share != 3 || len(b.give) != 2 || c.share != 3 || len(c.take) != 0 {
		t.Errorf("a %+v, b %+v, c %+v", a, b, c)
	}
}

// A partition is neglected when it was free for more than patientRounds rounds without a break.
func TestNeglected(t *testing.T) {
	g := &group{waiting: make(map[int]int), pinned: make(map[int]int64)}
	for i, c := range []struct{ free, want []int }{
		{[]int{1, 2}, nil}, {[]int{1, 2, 3}, nil}, {[]int{1, 3}, []int{1}}, {[]int{2, 3}, []int{3}}, {nil, nil}, {[]int{3}, nil},
	} {
		if got := g.neglected(c.free); !slices.Equal(got, c.want) {
			t.Errorf("round %d: %v, want %v", i, got, c.want)
		}
	}
}

func TestPinned(t *testing.T) {
	g := &group{pinned: map[int]int64{1: 10, 2: 20}}
	if got := g.unpin(9); len(got) != 2 {
		t.Errorf("before: %v", got)
	}
	if got := g.unpin(10); len(got) != 1 || !got[2] || len(g.pinned) != 1 {
		t.Errorf("in time: %v", got)
	}
}

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

func BenchmarkPlan(b *testing.B) {
	const members, partitions = 1000, 100_000
	views := make(map[string]view)
	var names []string
	for i := range members {
		names = append(names, fmt.Sprintf("node-%04d", i))
	}
	balanced := view{me: names[500], members: names, partitions: partitions, owners: make(map[int]string)}
	for partition := range partitions {
		owner := names[partition%members]
		balanced.owners[partition] = owner
		if owner == balanced.me {
			balanced.mine = append(balanced.mine, partition)
		}
	}
	views["balanced"] = balanced
	views["cold"] = view{me: names[500], members: names, partitions: partitions}

	joined := balanced
	joined.members = append(slices.Clone(names), "node-9999")
	views["join"] = joined
	joiner := joined
	joiner.me, joiner.mine, joiner.owners = "node-9999", nil, maps.Clone(joined.owners)
	for partition := range partitions / members {
		delete(joiner.owners, partition*members+partition) // what the others have given up
	}
	views["joiner"] = joiner

	for _, name := range slices.Sorted(maps.Keys(views)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				newPlan(views[name])
			}
		})
	}
}
