package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Members with different numbers of partitions have shares that are as equal as their numbers allow:
// nobody could have less so that one with fewer has more, and each set of members can have what it is
// to have.
func TestSharesCO23(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.IntRange(1, 40), 1, 12).Draw(t, "numbers")
		g := Group{Name: "orders", Count: make(map[string]int)}
		for i, n := range counts {
			g.Members = append(g.Members, Member{Name: fmt.Sprintf("n%02d", i), Partitions: n})
			g.Count[g.Members[i].Name] = rapid.IntRange(0, n).Draw(t, "has")
		}
		shares := Shares([]Group{g})[0]
		sum := 0
		for i, share := range shares {
			sum += share
			for j, other := range shares {
				// A tail that only the others can take may keep one from sharing with them.
				if share > other+1 && counts[i] <= counts[j] {
					t.Fatalf("numbers %v: shares %v", counts, shares)
				}
			}
		}
		for _, cut := range counts {
			below, above := 0, 0
			for i, share := range shares {
				if counts[i] <= cut {
					below += share
				} else {
					above += share
				}
			}
			if below > cut {
				t.Fatalf("numbers %v: shares %v, and those of up to %d have %d", counts, shares, cut, below)
			}
			for i, share := range shares {
				for j, other := range shares {
					if counts[i] > cut && counts[j] <= cut && share > other+1 && below < cut && above == slices.Max(counts)-below && tight(counts, shares, j, i) {
						t.Fatalf("numbers %v: shares %v, and %d could have one of %d", counts, shares, j, i)
					}
				}
			}
		}
		if sum != slices.Max(counts) {
			t.Fatalf("numbers %v: shares %v", counts, shares)
		}
	})
}

// tight reports whether one more for j and one less for i could still be had.
func tight(counts, shares []int, j, i int) bool {
	moved := slices.Clone(shares)
	moved[j]++
	moved[i]--
	for _, cut := range counts {
		below := 0
		for k, share := range moved {
			if counts[k] <= cut {
				below += share
			}
		}
		if below > cut {
			return false
		}
	}
	return true
}

// In a rolling deployment that adds partitions, or is rolled back, each node works what it knows, and
// all is worked that somebody knows.
func TestTownCO23(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, more := rapid.IntRange(1, 30).Draw(t, "old"), rapid.IntRange(1, 30).Draw(t, "more")
		nodes := rapid.IntRange(1, 6).Draw(t, "nodes")
		w := newTown([]string{"orders", "bills"}, rapid.Uint64().Draw(t, "seed"))
		join := func(i, partitions int) {
			w.join(fmt.Sprintf("n%02d", i*7%10), map[string]Member{"orders": {Partitions: partitions}, "bills": {Partitions: 7}})
		}
		for i := range nodes {
			join(i, old)
		}
		for _, partitions := range []int{old + more, old} { // the deployment, and back again
			for i := range nodes {
				w.leave(fmt.Sprintf("n%02d", i*7%10), false)
				join(i, partitions)
				w.settle(t)
				w.checkWorked(t)
				shares := Shares(w.groups())
				if got := holdings(w.groups()); off(got, shares) > 1 {
					t.Fatalf("%v, and the shares are %v: %v, owners %v", got, shares, w.groups()[0], w.owners["orders"])
				}
			}
		}
	})
}

// off returns by how much a member is off its share at the most.
func off(got, shares [][]int) (most int) {
	for i := range got {
		for m, n := range got[i] {
			most = max(most, n-shares[i][m], shares[i][m]-n)
		}
	}
	return most
}

// With partitions that some nodes exclude the town rests, and all is worked that somebody may take.
func TestTownCO27(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		partitions := rapid.IntRange(1, 30).Draw(t, "partitions")
		seed := rapid.Uint64().Draw(t, "seed")
		w, random := newTown([]string{"orders", "bills"}, seed), rand.New(rand.NewPCG(seed, 3))
		density := rapid.SampledFrom([]float64{0.02, 0.1, 0.5, 0.9}).Draw(t, "excluded")
		for i := range rapid.IntRange(1, 10).Draw(t, "nodes") {
			m := Member{Partitions: partitions}
			for p := range partitions {
				if random.Float64() < density {
					m.Except = append(m.Except, [2]int{p, p})
				}
			}
			w.join(fmt.Sprintf("n%02d", i), map[string]Member{"orders": m, "bills": {Partitions: 5}})
			if random.IntN(2) == 0 {
				w.settle(t)
			}
		}
		w.settle(t)
		w.checkWorked(t)
		before := w.moves
		for range 100 {
			w.round()
		}
		if w.moves != before {
			t.Fatalf("%d moves at rest", w.moves-before)
		}
	})
}

// Which node has an extra partition depends on who has one already. So where one may not take it, it could
// move for ever: a has it besides one of another group and so gives it to b; while it is free, c should have
// the extra, may not take it, and a takes it again.
func TestTownCO27AsExtrasMove(t *testing.T) {
	for i := range 40 { // hashing decides who should have it, and who takes it
		w := newTown([]string{"bills", "debts"}, uint64(i))
		for _, node := range []string{"a", "b", "c", "d"} {
			bills := Member{Partitions: 2}
			if node == "c" {
				bills.Except = [][2]int{{1, 1}}
			}
			w.join(fmt.Sprint(node, i), map[string]Member{"bills": bills, "debts": {Partitions: 1}})
		}
		w.owners["bills"][0], w.owners["debts"][0] = fmt.Sprint("d", i), fmt.Sprint("a", i)
		w.settle(t)
		w.checkWorked(t)
	}
}

// checkWorked checks that all partitions are worked that some node may take, and no others.
func (w *town) checkWorked(t failing) {
	for _, g := range w.groups() {
		for p := range most(g.Members) {
			may := slices.ContainsFunc(g.Members, func(m Member) bool { return m.May(p) })
			if owner := w.owners[g.Name][p]; may != (owner != "") {
				t.Fatalf("%s/%d is %q's", g.Name, p, owner)
			}
		}
		for p, owner := range w.owners[g.Name] {
			if !w.nodes[owner].takes[g.Name].May(p) {
				t.Fatalf("%s/%d is of %s, which may not take it", g.Name, p, owner)
			}
		}
	}
}
