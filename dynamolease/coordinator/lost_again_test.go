package coordinator_test

import (
	"testing"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// A node that finds that it has lost a partition does not acquire it again while the handler still
// runs here: nobody would work it then, for as long as the handler takes.
func TestLostIsNotAcquiredUnderAStuckHandler(t *testing.T) {
	inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
		const partitions = 8
		a, b := w.start("a", partitions, stuck(w, "a"), inMode(mode)), w.start("b", partitions, inMode(mode))
		w.within(10*round, "in balance", func() bool { return len(w.works(a)) == 4 && len(w.works(b)) == 4 })
		heal := b.path.Every("Query", onRow("L#", dynamotest.Throttle()))
		partition := w.works(a)[0]
		w.deleteRow(partition)
		latest := len(w.history(partition)) - 1
		w.within(35*round, "noticed", func() bool { return !w.history(partition)[latest].told.IsZero() })
		heal()
		w.within(10*round, "worked by the other", func() bool { return len(w.works(b)) == 5 })
	})
}
