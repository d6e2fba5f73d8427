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

	renewal atomic.Pointer[renewal] // of a plain lease; nil for a lease in a session

	// resumed is the lease for the next call of the handler, with the checkpoint to go on from; only
	// the goroutine that calls it uses this.
	resumed dynamolease.Lease

	ctx    context.Context
	cancel context.CancelCauseFunc
	expiry *time.Timer   // ends ctx when a plain lease expires; nil for a lease in a session
	done   chan struct{} // closed when the handler will not be called any more

	// The coordinator's mutex guards these.
	ending    bool      // ctx has ended
	lost      bool      // the lease is over: there is nothing to release
	loss      error     // why it is over; nil while it is not lost
	released  bool      // the lease was released
	overSince time.Time // since when it is lost or released
	stuckTold bool      // users were told that the handler goes on all the same
	deadline  time.Time // until when the handler may go on while its partition is handed over

	called      time.Time // when the handler was called last; zero while it waits to be called again
	failures    int       // in a row
	failedSince time.Time // the first of them
	failure     *failure  // the latest of them
	doneSince   time.Time // when it has returned nil, while this node owned the partition
}

// Delays between the calls of a handler that fails.
const (
	firstRestart = time.Second
	maxRestart   = time.Minute
)

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

// attempted notes an attempt to renew the worker's plain lease that has not been answered, or failed.
// Only the goroutine that renews calls it.
func (w *worker) attempted(err error) {
	w.renewal.Store(&renewal{ends: w.renewal.Load().ends, unanswered: err})
}

// lose marks the lease as over, and reports whether it was not before. The caller holds the
// coordinator's mutex.
func (w *worker) lose(why error) bool {
	if w.lost {
		return false
	}
	w.lost, w.loss = true, why
	if !w.released {
		w.overSince = time.Now()
	}
	w.invalid.Store(true)
	return true
}

// release marks the lease as released. The caller holds the coordinator's mutex.
func (w *worker) release() {
	w.released = true
	if !w.lost {
		w.overSince = time.Now()
	}
}

// over reports whether the lease is over. The caller holds the coordinator's mutex, as for the
// functions below.
func (w *worker) over() bool { return w.lost || w.released }

// stuck reports whether the handler goes on for more than a grace after its lease was over.
func (w *worker) stuck(now time.Time, grace time.Duration) bool {
	return w.over() && now.Sub(w.overSince) > grace && !w.returned()
}

// worked reports whether the handler has worked for a while since it was called last.
func (w *worker) worked(now time.Time) bool {
	return !w.called.IsZero() && now.Sub(w.called) > maxRestart
}

// failing reports whether the handler has failed, and has not worked for a while since.
func (w *worker) failing(now time.Time) bool {
	return w.failures > 0 && !w.ending && !w.worked(now)
}
