package coordinator_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// Nodes of two numbers of partitions run side by side, each with its own, through a rolling deployment
// that adds some, and through its rollback. What any live node knows is worked, and nothing else; shares are
// as equal as can be; all nodes say once that they differ.
func TestCountsCO23(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ nodes, before, after int }{{2, 8, 12}, {3, 1, 9}, {4, 10, 11}, {3, 12, 5}} {
		t.Run(fmt.Sprintf("%d nodes, %d to %d and back", c.nodes, c.before, c.after), func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				var log safeLog
				nodes := make([]*node, c.nodes)
				start := func(i, partitions int) {
					nodes[i] = w.start(fmt.Sprint("n", i), partitions, func(cfg *coordinator.Config) {
						cfg.Logger = slog.New(slog.NewTextHandler(&log, nil)).With("boot", fmt.Sprint(i, "-", partitions))
					})
				}
				for i := range nodes {
					start(i, c.before)
				}
				w.settle(c.before, nodes...)
				for _, next := range []int{c.after, c.before} {
					for i := range nodes {
						nodes[i].stop()
						start(i, next)
						most := max(c.before, c.after)
						if i == len(nodes)-1 {
							most = next
						}
						w.within(10*round, "all worked", func() bool { return w.busy() == most })
						time.Sleep(12 * round) // in which partitions move in several steps, each a round or more apart
						before := w.moves()
						w.always(2*round, "all worked", func() bool { return w.busy() == most })
						if got := w.moves(); got != before {
							w.Errorf("%d moves at rest", got-before)
						}
						w.checkCounts(nodes)
					}
				}
				// Each process says once for the deployment, and once for the rollback, that others differ, and
				// that they do not any more.
				for _, text := range []string{"another number of partitions", "one number of partitions again"} {
					said := make(map[string]int)
					for line := range strings.Lines(log.String()) {
						if strings.Contains(line, text) {
							_, boot, _ := strings.Cut(line, "boot=")
							boot, _, _ = strings.Cut(boot, " ")
							said[boot]++
						}
					}
					if len(said) == 0 {
						w.Errorf("nobody says %q:\n%s", text, log.String())
					}
					for boot, n := range said {
						if n > 2 {
							w.Errorf("%s says %q %d times", boot, text, n)
						}
					}
				}
			})
		})
	}
}

// checkCounts checks what nodes say of a group while they differ, and that none works what it does not
// know.
func (w *world) checkCounts(nodes []*node) {
	w.Helper()
	numbers := make(map[string]int)
	for _, n := range nodes {
		for _, m := range n.State().Members {
			numbers[m.Node] = m.Takes[w.group].Partitions
		}
	}
	for _, n := range nodes {
		g := n.State().Groups[0]
		for name, number := range numbers {
			if other, told := g.OtherCounts[name]; told != (number != numbers[n.name]) || told && other != number {
				w.Errorf("%s with %d partitions says %v, the numbers are %v", n.name, numbers[n.name], g.OtherCounts, numbers)
			}
		}
		if g.Free != 0 || n.Health() != nil {
			w.Errorf("%s: %d free, health %v", n.name, g.Free, n.Health())
		}
		for _, partition := range w.works(n) {
			if partition >= numbers[n.name] {
				w.Errorf("%s works %d of its %d partitions", n.name, partition, numbers[n.name])
			}
		}
	}
}

// Health says after an hour that numbers differ, so that no rolling deployment turns it red, and no
// longer when they do not.
func TestCountsCO23Health(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		slowly := func(c *coordinator.Config) { c.TTL, c.Interval = 10*time.Minute, 0 }
		a, b := w.start("a", 4, slowly), w.start("b", 6, slowly)
		time.Sleep(50 * time.Minute)
		if err := errors.Join(a.Health(), b.Health()); err != nil {
			w.Error(err)
		}
		time.Sleep(20 * time.Minute)
		for _, n := range []*node{a, b} {
			if err := n.Health(); !errors.Is(err, coordinator.ErrPartitions) {
				w.Errorf("%s after more than an hour: %v", n.name, err)
			}
		}
		b.stop()
		time.Sleep(5 * time.Minute)
		if err := a.Health(); err != nil {
			w.Errorf("when they agree: %v", err)
		}
	})
}
