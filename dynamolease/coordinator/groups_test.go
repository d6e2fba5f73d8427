package coordinator_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// sharing has a node take part in so many groups of so many partitions.
func (w *world) sharing(groups, partitions int) setting {
	return func(c *coordinator.Config) {
		c.Groups = nil
		for i := range groups {
			c.Groups = append(c.Groups, coordinator.Group{Name: fmt.Sprint(w.group, "-", i), Partitions: partitions, Handler: wait})
		}
	}
}

// loads lists how many partitions of all groups each node works.
func (w *world) loads(nodes ...*node) []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	count := make(map[*node]int)
	for _, r := range w.active {
		count[r.node]++
	}
	var list []int
	for _, n := range nodes {
		list = append(list, count[n])
	}
	return list
}

// Nodes that take part in the same groups work as many partitions as each other, in each group and in
// total, whether they start together or one by one, and whoever leaves.
func TestGroupsCO20(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ groups, partitions, nodes int }{{20, 1, 4}, {40, 3, 4}, {8, 5, 3}, {7, 11, 5}} {
		t.Run(fmt.Sprintf("%d groups of %d on %d nodes", c.groups, c.partitions, c.nodes), func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				all := c.groups * c.partitions
				fair := func(nodes []*node) func() bool {
					return func() bool {
						loads := w.loads(nodes...)
						return w.busy() == all && slices.Max(loads) <= slices.Min(loads)+1
					}
				}
				var nodes []*node
				step := func(name string, want int, do func()) {
					before := w.moves()
					do()
					w.within(10*round, name, fair(nodes))
					w.always(4*round, name, fair(nodes))
					w.checkGroups(c.partitions, nodes)
					if got := w.moves() - before; name != "together" && (got < want || got > want+2) {
						w.Errorf("%s: %d moves, %d would do", name, got, want)
					}
				}
				start := func() {
					nodes = append(nodes, w.start(fmt.Sprint("n", len(nodes)), 1, w.sharing(c.groups, c.partitions)))
				}
				step("together", all, func() {
					for range c.nodes - 1 {
						start()
					}
				})
				step("joined", all/c.nodes, start)
				left := w.loads(nodes[0])[0]
				step("left", left, func() {
					nodes[0].stop()
					nodes = nodes[1:]
				})
			})
		})
	}
}

// checkGroups checks that nodes differ by one partition at the most in each group.
func (w *world) checkGroups(partitions int, nodes []*node) {
	w.Helper()
	for i := range nodes[0].State().Groups {
		for _, n := range nodes {
			g := n.State().Groups[i]
			if least := partitions / len(nodes); len(g.Leases) < least || len(g.Leases) > least+1 {
				w.Errorf("%s works %d of %d partitions of %s", n.name, len(g.Leases), partitions, g.Name)
			}
		}
	}
}

// Nodes with other groups share those that they have in common, and nothing moves at rest.
func TestGroupsCO20OfSomeNodes(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		some := func(first, groups int) setting {
			return func(c *coordinator.Config) {
				w.sharing(first+groups, 3)(c)
				c.Groups = c.Groups[first:]
			}
		}
		nodes := []*node{
			w.start("a", 1, some(0, 10)), w.start("b", 1, some(0, 10)),
			w.start("c", 1, some(5, 10)), w.start("d", 1, some(5, 10)),
		}
		fair := func() bool {
			loads := w.loads(nodes...)
			differ := func(a, b int) bool { return a > b+1 || b > a+1 }
			return w.busy() == 45 && !differ(loads[0], loads[1]) && !differ(loads[2], loads[3])
		}
		w.within(10*round, "fair", fair)
		time.Sleep(4 * round)
		before := w.moves()
		w.always(20*round, "fair", fair)
		if got := w.moves(); got != before {
			w.Errorf("%d moves at rest", got-before)
		}
	})
}

// A node that cannot read one of its groups shares the others, all the same.
func TestGroupsCO20BesideAGroupThatHangs(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a := w.prepare("a", 1, w.sharing(3, 4))
		heal := a.path.Every("Query", onRow(fmt.Sprint("L#", w.group, "-1"), dynamotest.Hang()))
		a.begin(context.Background())
		w.within(10*time.Second+2*round, "the others are worked", func() bool { return w.busy() == 8 })
		heal()
		w.within(ttl+2*round, "all are worked", func() bool { return w.busy() == 12 })
	})
}
