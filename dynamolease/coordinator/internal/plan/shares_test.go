package plan

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawGroups draws groups in which all nodes take part, and what they have by now.
func drawGroups(t *rapid.T, maxNodes, maxGroups, maxPartitions int) []Group {
	nodes := rapid.IntRange(1, maxNodes).Draw(t, "nodes")
	groups := make([]Group, rapid.IntRange(1, maxGroups).Draw(t, "groups"))
	for i := range groups {
		partitions := rapid.IntRange(1, maxPartitions).Draw(t, "partitions")
		groups[i] = Group{Name: fmt.Sprint("g", i), Count: make(map[string]int)}
		for node := range nodes {
			groups[i].Members = append(groups[i].Members, Member{Name: fmt.Sprintf("n%03d", node), Partitions: partitions})
		}
		for range partitions {
			if node := rapid.IntRange(-1, nodes).Draw(t, "owner"); node >= 0 { // -1 is nobody, and n a node that is gone
				groups[i].Count[fmt.Sprintf("n%03d", node)]++
			}
		}
	}
	return groups
}

// checkFair checks that shares add up, and are as equal as can be in each group and in total.
func checkFair(t *rapid.T, groups []Group, shares [][]int) {
	totals := make([]int, len(groups[0].Members))
	for i, g := range groups {
		sum, partitions := 0, g.Members[0].Partitions
		for m, share := range shares[i] {
			sum += share
			totals[m] += share
			if least := partitions / len(g.Members); share != least && share != least+1 {
				t.Fatalf("%s: %d of %d partitions among %d", g.Name, share, partitions, len(g.Members))
			}
		}
		if sum != partitions {
			t.Fatalf("%s: shares add up to %d of %d", g.Name, sum, partitions)
		}
	}
	if slices.Max(totals) > slices.Min(totals)+1 {
		t.Fatalf("totals %v", totals)
	}
}

// movesOf is how many partitions have to be acquired until all have their shares.
func movesOf(groups []Group, shares [][]int) (moves int) {
	for i, g := range groups {
		for m, share := range shares[i] {
			moves += max(0, share-g.Count[g.Members[m].Name])
		}
	}
	return moves
}

// Whatever nodes have, their shares of all groups together are fair, and at rest they stay.
func TestSharesCO20(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		groups := drawGroups(t, 30, 30, 60)
		shares := Shares(groups)
		checkFair(t, groups, shares)
		for i, g := range groups {
			for m, share := range shares[i] {
				g.Count[g.Members[m].Name] = share
			}
		}
		if again := Shares(groups); fmt.Sprint(again) != fmt.Sprint(shares) {
			t.Fatalf("%v, and then %v", shares, again)
		}
	})
}

// As few partitions move as any fair shares allow.
func TestSharesCO20FewestMoves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		groups := drawGroups(t, 5, 5, 12)
		shares := Shares(groups)
		checkFair(t, groups, shares)
		if got, want := movesOf(groups, shares), fewestOf(groups); got != want {
			t.Fatalf("%v: %d moves, %d would do", groups, got, want)
		}
	})
}

// And so it is for each way in which three nodes can have three groups of one partition.
func TestSharesCO20FewestMovesOfThree(t *testing.T) {
	names := []string{"a", "b", "c"}
	owners := append(slices.Clone(names), "gone", "")
	for of := range len(owners) * len(owners) * len(owners) {
		var groups []Group
		for i, rest := 0, of; i < 3; i, rest = i+1, rest/len(owners) {
			g := Group{Name: fmt.Sprint("g", i), Count: make(map[string]int), Members: membersOf(names, 1)}
			if owner := owners[rest%len(owners)]; owner != "" {
				g.Count[owner] = 1
			}
			groups = append(groups, g)
		}
		if got, want := movesOf(groups, Shares(groups)), fewestOf(groups); got != want {
			t.Errorf("%v: %d moves, %d would do", groups, got, want)
		}
	}
}

// fewestOf tries all shares.
func fewestOf(groups []Group) int {
	nodes := len(groups[0].Members)
	type state struct{ totals [5]int }
	best := map[state]int{{}: 0}
	for _, g := range groups {
		next := make(map[state]int)
		least, more := g.Members[0].Partitions/nodes, g.Members[0].Partitions%nodes
		for chosen := range 1 << nodes {
			if bits.OnesCount(uint(chosen)) != more {
				continue
			}
			for s, moves := range best {
				for m := range nodes {
					extra := chosen >> m & 1
					s.totals[m] += extra
					moves += max(0, least+extra-g.Count[g.Members[m].Name])
				}
				if before, there := next[s]; !there || moves < before {
					next[s] = moves
				}
			}
		}
		best = next
	}
	fewest := 1 << 30
	for s, moves := range best {
		if totals := s.totals[:nodes]; slices.Max(totals) <= slices.Min(totals)+1 {
			fewest = min(fewest, moves)
		}
	}
	return fewest
}

// Neither the same nodes nor the same groups come first where nothing tells them apart.
func TestSharesCO20Ties(t *testing.T) {
	firsts := make(map[string]bool)
	for i := range 40 {
		groups := []Group{{Name: fmt.Sprint("g", i), Count: map[string]int{}, Members: membersOf([]string{"a", "b", "c", "d"}, 1)}}
		firsts[groups[0].Members[slices.Index(Shares(groups)[0], 1)].Name] = true
	}
	if len(firsts) != 4 {
		t.Errorf("the first are always of %v", firsts)
	}
}

// Nodes that take part in other groups than each other are fair among those that take part in the
// same ones, and see the same shares, although each knows only its own groups.
func TestSharesCO20Classes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 12).Draw(t, "nodes")
		groups := make([]Group, rapid.IntRange(1, 8).Draw(t, "groups"))
		kinds := rapid.SliceOfN(rapid.Uint8(), 1, 3).Draw(t, "kinds") // bits of the groups
		kindOf := make([]uint8, nodes)
		for i := range kindOf {
			kindOf[i] = rapid.SampledFrom(kinds).Draw(t, "kind")
		}
		for i := range groups {
			partitions := rapid.IntRange(1, 20).Draw(t, "partitions")
			groups[i] = Group{Name: fmt.Sprint("g", i), Count: make(map[string]int)}
			for node, kind := range kindOf {
				if kind>>i&1 == 1 {
					groups[i].Members = append(groups[i].Members, Member{Name: fmt.Sprintf("n%03d", node), Partitions: partitions})
				}
			}
			for range partitions {
				if len(groups[i].Members) > 0 {
					groups[i].Count[rapid.SampledFrom(groups[i].Members).Draw(t, "owner").Name]++
				}
			}
		}
		shares := Shares(groups)
		totals := make(map[uint8][]int)
		for node, kind := range kindOf {
			name, total := fmt.Sprintf("n%03d", node), 0
			known := slices.Clone(groups) // as this node sees them
			for i := range known {
				if kind>>i&1 == 0 {
					known[i].Count = nil
				}
			}
			own := Shares(known)
			for i, g := range groups {
				m := slices.IndexFunc(g.Members, func(m Member) bool { return m.Name == name })
				if m < 0 {
					continue
				}
				if own[i][m] != shares[i][m] {
					t.Fatalf("%s sees a share of %d, others see %d", name, own[i][m], shares[i][m])
				}
				total += own[i][m]
			}
			totals[kind] = append(totals[kind], total)
		}
		for i, g := range groups {
			sum, want := 0, most(g.Members)
			for _, share := range shares[i] {
				sum += share
				if least := want / len(g.Members); share != least && share != least+1 {
					t.Fatalf("%s: a share of %d among %d of %d", g.Name, share, len(g.Members), want)
				}
			}
			if sum != want {
				t.Fatalf("%s: shares add up to %d of %d", g.Name, sum, want)
			}
		}
		for kind, list := range totals {
			if slices.Max(list) > slices.Min(list)+1 {
				t.Fatalf("totals of %b: %v", kind, list)
			}
		}
	})
}
