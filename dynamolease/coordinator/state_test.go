package coordinator_test

import (
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// The leases of a State say until when they are good by now, and not until when they were when
// they were acquired.
func TestStateLeases(t *testing.T) {
	inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
		a := w.start("a", 3, inMode(mode))
		w.settle(3, a)
		for range 5 {
			time.Sleep(ttl)
			for _, lease := range a.State().Groups[0].Leases {
				if left := time.Until(lease.ExpiresAt); left < ttl-round-tick || left > ttl+grace {
					w.Errorf("%v until %v: %v from now", lease.Partition, lease.ExpiresAt, left)
				}
			}
		}
	})
}
