package coordinator_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// quietly is more partitions than a test has rounds: nobody reads the owners of so many without a
// reason before it is over.
const quietly = 300

// What comes free out of turn, and is not worked where it should be, is worked elsewhere some
// rounds later: the node that frees it, or sees that it is free, signals the others. No node reads the
// owners without a reason meanwhile.
func TestRefresh(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(w *world){
		"revoked from a stuck handler":               revokedQuietly(false),
		"revoked from a node that can't look":        revokedQuietly(true),
		"revoked, and released late":                 releasedLate,
		"given up slowly for a node that can't look": givenUpQuietly(blind),
		"lost by a stuck handler":                    lostQuietly,
		"found under a session":                      orphanFreed,
		"row deleted":                                rowDeleted,
		"silence":                                    silence,
	} {
		t.Run(name, func(t *testing.T) { inVirtualTime(t, test) })
	}
}

// stuck is a handler that ignores its end on one node, until the test is over.
func stuck(w *world, name string) setting {
	w.lenient = true
	free := make(chan struct{})
	w.Cleanup(func() { close(free) })
	return handling(func(ctx context.Context, lease coordinator.Assignment) error {
		<-ctx.Done()
		if strings.HasPrefix(lease.Owner, name+"#") || lease.Owner == name {
			<-free
		}
		return context.Cause(ctx)
	})
}

func revokedQuietly(blind bool) func(w *world) {
	return func(w *world) {
		drain := grouped(func(g *coordinator.Group) { g.DrainTimeout = 8 * round }) // longer than others look for a change of members
		a, b := w.start("a", quietly, stuck(w, "a"), drain), w.start("b", quietly, drain)
		w.within(10*round, "in balance", func() bool { return w.balanced(quietly, a, b) })
		time.Sleep(8 * round)
		partition := w.works(a)[0]
		runs := w.history(partition)
		if _, _, err := w.look().Revoke(w.Context(), w.group, partition, runs[len(runs)-1].lease.Epoch); err != nil {
			w.Fatal(err)
		}
		if blind {
			a.path.Every("Query", onRow("L#", dynamotest.Throttle()))
		}
		w.within(8*round+ttl+grace+8*round, "worked elsewhere", func() bool { return len(w.works(b)) == quietly/2+1 })
	}
}

// A release that takes longer than others look for it is signalled when it is done, and not before.
func releasedLate(w *world) {
	often := func(c *coordinator.Config) { c.Interval = interval / 3 }
	a, b := w.start("a", quietly, often), w.start("b", quietly, often)
	w.within(10*round, "in balance", func() bool { return w.balanced(quietly, a, b) })
	time.Sleep(8 * round)
	partition := w.works(a)[0]
	latest := len(w.history(partition)) - 1
	if _, _, err := w.look().Revoke(w.Context(), w.group, partition, w.history(partition)[latest].lease.Epoch); err != nil {
		w.Fatal(err)
	}
	a.path.Every("Query", onRow("L#", dynamotest.Throttle()))
	heal := a.path.Every("UpdateItem", onRow("L#", dynamotest.Throttle()))
	w.within(2*round, "given up", func() bool { return !w.history(partition)[latest].ended.IsZero() })
	time.Sleep(7 * interval / 3)
	heal()
	w.within(8*round, "worked elsewhere", func() bool { return len(w.works(b)) == quietly/2+1 })
}

// A newcomer can't read the owners, so that what others have given up for it stays free when they have
// returned from it.
func givenUpQuietly(newcomer func(w *world) *node) func(w *world) {
	return func(w *world) {
		slow := handling(func(ctx context.Context, _ coordinator.Assignment) error {
			<-ctx.Done()
			time.Sleep(8 * round)
			return context.Cause(ctx)
		})
		drain := grouped(func(g *coordinator.Group) { g.DrainTimeout = 10 * round })
		a, b := w.start("a", quietly, slow, drain), w.start("b", quietly, slow, drain)
		w.within(20*round, "in balance", func() bool { return w.balanced(quietly, a, b) })
		time.Sleep(8 * round)
		newcomer(w).begin(context.Background())
		w.within(6*round, "given up", func() bool { return len(w.told()) >= quietly/3 })
		given := w.told()
		w.within(18*round, "worked again, all that was given up", func() bool { return w.again(given) })
	}
}

func blind(w *world) *node {
	c := w.prepare("c", quietly)
	c.path.Every("Query", onRow("L#", dynamotest.Throttle()))
	return c
}

// told are the runs whose handlers have been told to stop so far.
func (w *watch) told() (runs []*run) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.runs {
		if !r.told.IsZero() {
			runs = append(runs, r)
		}
	}
	return runs
}

// again reports whether another run of the same partition has followed each of these. (Its node may
// have given it up once more.)
func (w *watch) again(runs []*run) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !slices.ContainsFunc(runs, func(r *run) bool { return w.latest[place{r.lease.Group, r.lease.Partition}] == r })
}

// Leases with an expiry of their own are lost while the node's session lives: its renewals fail
// alone.
func lostQuietly(w *world) {
	a := w.start("a", quietly, stuck(w, "a"), inMode(coordinator.PerLease))
	w.within(4*round, "taken", func() bool { return w.busy() == quietly })
	b := w.start("b", quietly, inMode(coordinator.PerLease))
	w.within(10*round, "in balance", func() bool { return len(w.works(b)) == quietly/2 })
	time.Sleep(8 * round)
	heal := a.path.Every("", onRow("L#", dynamotest.Throttle()))
	w.within(ttl+grace+15*round, "worked elsewhere", func() bool { return len(w.works(b)) == quietly })
	heal()
}

// A lease that its session does not know of is freed as soon as the session looks, and goes to
// whoever lacks one.
func orphanFreed(w *world) {
	a := w.start("a", quietly)
	w.within(4*round, "taken", func() bool { return w.busy() == quietly })
	b := w.start("b", quietly)
	w.within(10*round, "in balance", func() bool { return w.balanced(quietly, a, b) })
	time.Sleep(8 * round)
	b.path.Next("UpdateItem", onRow("L#", dynamotest.LoseResponse()))
	w.deleteRow(w.works(a)[0])
	a.stop()
	w.within(10*round, "taken over", func() bool { return w.balanced(quietly, b) })
}

// A row that somebody has deleted is found by whoever looks first, and the holder is told, long
// before it would look itself.
func rowDeleted(w *world) {
	const partitions = 40 // each node looks without a reason after 40 to 120 rounds
	w.lenient = true
	nodes := []*node{w.start("a", partitions), w.start("b", partitions), w.start("c", partitions), w.start("d", partitions)}
	w.settle(partitions, nodes...)
	for _, holder := range nodes {
		time.Sleep(10 * round)
		partition := w.works(holder)[0]
		latest := len(w.history(partition)) - 1
		w.deleteRow(partition)
		w.within(125*round, "worked by another", func() bool { return len(w.history(partition)) > latest+1 })
		w.within(2*round, "noticed", func() bool { return !w.history(partition)[latest].ended.IsZero() })
		if cause := w.history(partition)[latest].cause; !errors.Is(cause, coordinator.ErrLost) {
			w.Errorf("the handler was told %v", cause)
		}
	}
}

// A quiet fleet does not signal.
func silence(w *world) {
	a, b := w.start("a", 20), w.start("b", 20)
	w.settle(20, a, b)
	time.Sleep(5 * round)
	before := w.signals()
	time.Sleep(100 * round)
	if after := w.signals(); after != before {
		w.Errorf("%d signals, and then %d", before, after)
	}
}

func (w *world) signals() (sum int64) {
	members, err := w.look().Members(w.Context(), w.service)
	if err != nil || len(members) == 0 {
		w.Fatalf("members %v, %v", members, err)
	}
	for _, m := range members {
		sum += m.Signals
	}
	return sum
}
