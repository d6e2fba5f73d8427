package coordinator_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

// A node that had one partition more than others crashes and starts again under its name. The
// extra partition falls to another node by the plan, which must notice: the members are the same
// by name, and its own share was right before.
func TestRestartMovesTheExtraPartition(t *testing.T) {
	t.Parallel()
	const ttl, round = 5 * time.Minute, 110 * time.Second
	long := func(c *coordinator.Config) { c.TTL, c.Interval = ttl, 0 }
	for quiet := range testkit.Size(4, 10) { // rounds: each node looks at the owners after ten or more in any case
		t.Run(fmt.Sprint("CO3/after ", quiet, " quiet rounds"), func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				c := w.start("c", 4, long)
				w.within(2*round, "worked", func() bool { return w.balanced(4, c) })
				a, b := w.start("a", 4, long), w.start("b", 4, long)
				w.within(3*round, "in balance", func() bool { return w.balanced(4, a, b, c) }) // a 1, b 1, c 2
				time.Sleep(3*round + time.Duration(quiet)*round)
				c.crash()
				time.Sleep(time.Second)
				next := w.start("c", 4, long)
				took := w.within(ttl+20*round, "all worked", func() bool { return w.busy() == 4 })
				if bound := ttl + grace + round; took > bound {
					w.Errorf("all are worked after %v, the bound is %v", took, bound)
				}
				w.within(20*round, "in balance", func() bool { return w.balanced(4, a, b, next) })
			})
		})
	}
}
