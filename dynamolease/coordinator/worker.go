package coordinator

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A worker is a partition of this node: its lease, and how far the handler that works it has come.
type worker struct {
	groupName string
	partition int
	epoch     int64
	lease     atomic.Pointer[dynamolease.Lease]
	session   *dynamolease.Session // the session in which the lease was acquired

	// invalid is set when the handler must not count on the lease any more, whatever it has left.
	invalid atomic.Bool

	// resumed is the lease for the next call of the handler, with the checkpoint to go on from; only
	// the goroutine that calls it uses this.
	resumed dynamolease.Lease

	ctx    context.Context
	cancel context.CancelCauseFunc
	expiry *time.Timer   // ends ctx when a plain lease expires; nil for a lease in a session
	done   chan struct{} // closed when the handler will not be called any more

	// The coordinator's mutex guards these.
	ending   bool      // ctx has ended
	lost     bool      // the lease is over: there is nothing to release
	released bool      // the lease was released
	deadline time.Time // until when the handler may go on while its partition is handed over
}

func newWorker(session *dynamolease.Session, lease dynamolease.Lease) *worker {
	w := &worker{
		groupName: lease.Group, partition: lease.Partition, epoch: lease.Epoch, session: session,
		resumed: lease, done: make(chan struct{}),
	}
	w.lease.Store(&lease)
	return w
}

// returned reports whether the handler has returned for good.
func (w *worker) returned() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// lose marks the lease as over, and reports whether it was not before. The caller holds the
// coordinator's mutex.
func (w *worker) lose() bool {
	if w.lost {
		return false
	}
	w.lost = true
	w.invalid.Store(true)
	return true
}
