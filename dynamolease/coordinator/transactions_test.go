package coordinator_test

import (
	"context"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// Nodes with default options share, hand over, take over from one that died, and stop, on a table
// that refuses every transaction, as a multi-Region strongly consistent one does.
func TestWithoutTransactions(t *testing.T) {
	t.Parallel()
	t.Run("LS45/no coordinator needs any", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			const partitions = 12
			var nodes []*node
			for _, name := range []string{"a", "b", "c"} {
				n := w.prepare(name, partitions)
				n.path.Every("TransactWriteItems", dynamotest.Reply(400, "ValidationException", "Transactions are not supported"))
				n.begin(context.Background())
				nodes = append(nodes, n)
			}
			a, b, c := nodes[0], nodes[1], nodes[2]
			w.settle(partitions, a, b, c)
			b.crash()
			w.within(ttl+5*time.Second+round, "taken over", func() bool { return w.balanced(partitions, a, c) })
			c.stop()
			w.within(round, "handed over", func() bool { return w.balanced(partitions, a) })
			a.stop()
			for _, n := range nodes {
				if count := n.path.Count("TransactWriteItems"); count != 0 {
					w.Errorf("%s sent %d transactions", n.name, count)
				}
			}
		})
	})
}
