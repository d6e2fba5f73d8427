package dynamolease_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

// LS7: N concurrent acquirers have one winner, and the losers see it.
func TestAcquireLS7(t *testing.T) {
	prepare := map[string]func(n *node){
		"free":     func(n *node) {},
		"released": func(n *node) { n.acquire(7, "before"); n.release(7, "before") },
		"expired":  func(n *node) { n.plant(7, "before", 1000, "1000") },
	}
	for name, prepare := range prepare {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for round := range testkit.Size(7, 20) {
				w.group = fmt.Sprintf("%s-%d", w.group, round)
				prepare(w.node())
				w.race(32)
			}
		})
	}
}

// race has n nodes acquire one partition at once.
func (w *world) race(n int) {
	type result struct {
		lease    dynamolease.Lease
		acquired bool
		err      error
	}
	results := make([]result, n)
	nodes := make([]*node, n)
	for i := range nodes {
		nodes[i] = w.node()
	}
	var running sync.WaitGroup
	for i, node := range nodes {
		running.Go(func() {
			r := &results[i]
			r.lease, r.acquired, r.err = node.Acquire(context.Background(), w.group, 7, fmt.Sprint("node", i), 30*time.Second)
		})
	}
	running.Wait()
	winners := make(map[string]int64)
	for i, r := range results {
		if r.err != nil {
			w.Fatal(r.err)
		}
		if r.acquired {
			winners[fmt.Sprint("node", i)] = r.lease.Epoch
		}
	}
	if len(winners) != 1 {
		w.Fatalf("winners %v, want one", winners)
	}
	for i, r := range results {
		if epoch, won := winners[r.lease.Owner]; !won || epoch != r.lease.Epoch {
			w.Errorf("node %d saw %q with epoch %d, the winner is %v", i, r.lease.Owner, r.lease.Epoch, winners)
		}
	}
}
