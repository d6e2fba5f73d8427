package coordinator_test

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// What an eventual reading shows otherwise than a node has it is neither lost nor given up. The node
// reads once more, consistently, and that reading decides.
func TestEventualReadingCO21(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(w *world){
		"CO21/what is there stays":          oldAnswers,
		"CO21/what has gone is found so":    oldAnswersOfLostRows,
		"CO21/and is read again just once":  oldAnswersReadAgain,
		"CO21/what was given up stays free": oldAnswersOfReleases,
	} {
		t.Run(name, func(t *testing.T) { inVirtualTime(t, test) })
	}
}

// stale starts a node whose eventual readings of leases all show what the first of them has found. Each
// of its readings is noted before.
func (w *world) stale(name string, partitions int, note func(consistent bool)) *node {
	n := w.prepare(name, partitions)
	n.path.Every("Query", onRow("L#", func(r *http.Request, send dynamotest.Send) (*http.Response, error) {
		note(!strings.Contains(bodyOf(r), `"ConsistentRead":false`))
		return send(r)
	}))
	n.path.Every("Query", onRow("L#", newReplica(24*time.Hour).fault))
	n.begin(w.Context())
	return n
}

func unnoted(bool) {}

func oldAnswers(w *world) {
	const partitions = 12
	nodes := []*node{w.stale("a", partitions, unnoted)}
	w.settle(partitions, nodes...)
	for _, name := range []string{"b", "c", "d"} {
		kept := append(w.shares(nodes...), 0)
		before := w.moves()
		nodes = append(nodes, w.start(name, partitions))
		w.settle(partitions, nodes...)
		if got, want := w.moves()-before, fewest(partitions, kept); got != want {
			w.Errorf("%d moves, %d would do", got, want)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.runs {
		if errors.Is(r.cause, coordinator.ErrLost) {
			w.Errorf("%s has lost partition %d: %v", r.node.name, r.lease.Partition, r.cause)
		}
	}
}

// A row that has gone is missed by its holder as soon as it has a reason to look.
func oldAnswersOfLostRows(w *world) {
	a := w.stale("a", quietly, unnoted)
	w.within(4*round, "taken", func() bool { return w.busy() == quietly })
	time.Sleep(3 * round)
	w.deleteRow(7)
	time.Sleep(3 * round)
	w.start("b", quietly, grouped(func(g *coordinator.Group) { g.Exclude = []int{7} })) // leaves it to its holder
	w.within(3*round, "noticed", func() bool { return !w.history(7)[0].ended.IsZero() })
	if r := w.history(7)[0]; r.node != a || !errors.Is(r.cause, coordinator.ErrLost) {
		w.Errorf("the handler of %s was told %v", r.node.name, r.cause)
	}
}

// An old answer makes a node read once more, and not again and again.
func oldAnswersReadAgain(w *world) {
	var eventual, consistent atomic.Int32
	a := w.stale("a", quietly, func(c bool) {
		if c {
			consistent.Add(1)
		} else {
			eventual.Add(1)
		}
	})
	w.within(4*round, "taken", func() bool { return w.busy() == quietly })
	time.Sleep(3 * round)
	eventual.Store(0)
	consistent.Store(0)
	b := w.start("b", quietly)
	w.settle(quietly, a, b)
	if e, c := eventual.Load(), consistent.Load(); e < 1 || e > 2 || c < 1 || c > e {
		w.Errorf("%d eventual readings, and %d consistent ones", e, c)
	}
}

// An old answer shows as a node's own what it has given up since: others take it all the same, and the
// node does not release it from them.
func oldAnswersOfReleases(w *world) {
	a := w.start("a", quietly)
	w.within(4*round, "taken", func() bool { return w.busy() == quietly })
	time.Sleep(3 * round)
	a.path.Every("Query", onRow("L#", newReplica(24*time.Hour).fault))
	b := w.start("b", quietly)
	w.settle(quietly, a, b)
	c := w.start("c", quietly)
	w.settle(quietly, a, b, c)
	b.stop()
	w.settle(quietly, a, c)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.runs {
		if errors.Is(r.cause, coordinator.ErrLost) {
			w.Errorf("%s has lost partition %d: %v", r.node.name, r.lease.Partition, r.cause)
		}
	}
}
