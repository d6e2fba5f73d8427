package coordinator

import (
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// An Assignment gives a partition to a handler: it is the lease of the partition, and stays valid
// by itself. [Assignment.Remaining] follows the renewals.
type Assignment struct {
	dynamolease.Lease
	worker *worker // nil for an assignment that a test has made
}

// Remaining returns how long this node may still count on the lease. It is zero when the handler's
// context has ended with [ErrLost], and when the partition was given away because the drain timeout
// has passed.
func (a Assignment) Remaining() time.Duration {
	switch {
	case a.worker == nil:
		return a.Lease.Remaining()
	case a.worker.invalid.Load():
		return 0
	default:
		return a.worker.lease.Load().Remaining()
	}
}
