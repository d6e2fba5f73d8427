package coordinator_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// CO2, CO8: a node that stops holds up only the partition whose handler does not return; the
// others run elsewhere within the next rounds, although the node is there for as long as it
// drains.
func TestStoppingNodeHoldsUpOnlyWhatDoesNotReturn(t *testing.T) {
	inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
		stuck := make(chan struct{})
		release := sync.OnceFunc(func() { close(stuck) })
		defer release()
		a := w.prepare("a", 8, inMode(mode), grouped(func(g *coordinator.Group) { g.DrainTimeout = time.Minute }),
			handling(func(ctx context.Context, lease coordinator.Assignment) error {
				<-ctx.Done()
				if lease.Partition == 3 && errors.Is(context.Cause(ctx), coordinator.ErrShutdown) {
					<-stuck
				}
				return nil
			}))
		a.begin(context.Background())
		w.within(2*round, "a works all", func() bool { return len(leasesOf(a)) == 8 })
		b := w.prepare("b", 8, inMode(mode), grouped(func(g *coordinator.Group) { g.Exclude = []int{3} }))
		b.begin(context.Background())
		w.within(4*round, "b has its share", func() bool { return len(leasesOf(b)) >= 3 }) // 3 itself may have been given up for nothing
		w.within(6*round, "a has 3", func() bool { return holds(a, 3) })
		a.cancel()
		w.within(2*round, "b works all that a has let go", func() bool { return len(leasesOf(b)) >= 7 })
		if holds(b, 3) {
			w.Error("b works what a has not let go")
		}
		release()
		<-a.over
		if a.err != nil {
			w.Errorf("Run of a: %v", a.err)
		}
	})
}

func holds(n *node, partition int) bool {
	return slices.ContainsFunc(leasesOf(n), func(l coordinator.Assignment) bool { return l.Partition == partition })
}

func leasesOf(n *node) []coordinator.Assignment {
	var leases []coordinator.Assignment
	for _, lease := range n.State().Groups[0].Leases {
		leases = append(leases, coordinator.Assignment{Lease: lease})
	}
	return leases
}
