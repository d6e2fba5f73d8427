package coordinator_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// A fleet in which nodes exclude partitions comes to rest, with all that some node may take at work:
// without a move in a hundred rounds, and with no more requests than any other.
func TestExcludeCO27(t *testing.T) {
	t.Parallel()
	upTo := func(n int) (list []int) {
		for i := range n {
			list = append(list, i)
		}
		return list
	}
	for name, excluded := range map[string][][]int{
		"one node excludes one":           {{3}, nil, nil},
		"one node excludes nearly all":    {upTo(11), nil, nil},
		"one node excludes all":           {upTo(12), nil, nil},
		"two nodes exclude each half":     {upTo(6), {6, 7, 8, 9, 10, 11}, nil},
		"all exclude one":                 {{5}, {5}, {5}},
		"each excludes what another does": {{0, 1, 2, 3, 4, 5}, {2, 3, 4, 5, 6, 7}, {4, 5, 6, 7, 8, 9}},
		"all but one exclude nearly all":  {upTo(11), upTo(10), nil},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				w.rests(12, excluded)
			})
		})
	}
}

func (w *world) rests(partitions int, excluded [][]int) {
	can := make(map[int]bool)
	var nodes []*node
	for i, list := range excluded {
		nodes = append(nodes, w.start(fmt.Sprint("n", i), partitions, grouped(func(g *coordinator.Group) { g.Exclude = list })))
		excludes := make(map[int]bool)
		for _, partition := range list {
			excludes[partition] = true
		}
		for partition := range partitions {
			can[partition] = can[partition] || !excludes[partition]
		}
		time.Sleep(time.Duration(i) * round) // the first two together
	}
	worked := 0
	for _, is := range can {
		if is {
			worked++
		}
	}
	w.within(10*round, "all worked", func() bool { return w.busy() == worked })
	time.Sleep(10 * round)
	before := w.moves()
	for _, n := range nodes {
		n.path.Reset()
	}
	for range 100 {
		time.Sleep(interval)
		if w.busy() != worked {
			w.Fatalf("%d of %d are worked", w.busy(), worked)
		}
	}
	if got := w.moves(); got != before {
		w.Errorf("%d moves at rest", got-before)
	}
	for i, n := range nodes {
		// The members in each round, and the owners each 12 to 36 rounds, with the sessions of their holders.
		if got := n.path.Count("Query"); got > 150 {
			w.Errorf("%s made %d readings in 100 rounds at rest", n.name, got)
		}
		if g := n.State().Groups[0]; g.Free != partitions-worked {
			w.Errorf("%s sees %d free", n.name, g.Free)
		}
		for _, partition := range w.works(n) {
			for _, not := range excluded[i] {
				if partition == not {
					w.Errorf("%s works %d", n.name, partition)
				}
			}
		}
	}
}

// Exclude is refused where its runs do not fit into the member's row, and accepted where they do.
func TestExcludeOfManyRuns(t *testing.T) {
	for runs, bad := range map[int]bool{1000: false, 1001: true} {
		var list []int
		for i := range runs {
			list = append(list, 2*i, 2*i) // each twice, which is one
		}
		_, err := coordinator.New(refusing(t), coordinator.Config{
			Service: "s", Node: "n", Address: "a", TTL: ttl,
			Groups: []coordinator.Group{{Name: "g", Partitions: 1_000_000, Handler: wait, Exclude: list}},
		})
		if isArgument(err, "Config.Groups[0].Exclude") != bad || !bad && err != nil {
			t.Errorf("%d runs: %v", runs, err)
		}
	}
}
