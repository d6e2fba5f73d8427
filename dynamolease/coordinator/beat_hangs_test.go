package coordinator_test

import (
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// While heartbeats hang, plain leases are renewed: when the session is lost and another one cannot be
// opened, and when the node tells others of a loss.
func TestHeartbeatHangsCO10(t *testing.T) {
	for name, interval := range map[string]time.Duration{"a third of the ttl": ttl / 3, "nearly half of the ttl": ttl * 49 / 100} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a := w.start("a", 6, inMode(coordinator.PerLease), func(c *coordinator.Config) { c.Interval = interval })
				w.settle(6, a)
				heal := a.path.Every("UpdateItem", onRow("M#", dynamotest.Hang()))
				for partition := range 3 { // each is a loss that others should know of
					w.deleteRow(partition)
					w.within(2*ttl, "lost", func() bool { return w.worker(partition) == nil })
					w.always(ttl*3/2, "kept", func() bool { return w.worker(3) != nil && w.worker(4) != nil && w.worker(5) != nil })
				}
				heal()
				w.within(ttl+5*interval, "all worked again", func() bool { return w.balanced(6, a) })
				for partition := 3; partition < 6; partition++ {
					if runs := w.history(partition); len(runs) != 1 {
						w.Errorf("%d was lost: %d runs", partition, len(runs))
					}
				}
			})
		})
	}
}
