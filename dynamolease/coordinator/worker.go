package coordinator

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A Lease is the ownership of the partition that a handler works. It stays valid by itself: [Lease.Remaining] follows the
// renewals.
type Lease struct {
	dynamolease.Lease
	worker *worker // nil for a lease that a test has made
}

// Remaining is how long this node may still count on the lease. The handler's context has ended when it is over; it is
// over, too, when the partition is given away because the drain timeout has passed.
func (l Lease) Remaining() time.Duration {
	switch {
	case l.worker == nil:
		return l.Lease.Remaining()
	case l.worker.over.Load():
		return 0
	default:
		return l.worker.lease.Load().Remaining()
	}
}

// A worker is a partition of this node: its lease, and the handler that works it.
type worker struct {
	group     *group
	partition int
	epoch     int64
	lease     atomic.Pointer[dynamolease.Lease]
	over      atomic.Bool          // the handler is not to count on the lease any more, whatever it has left
	session   *dynamolease.Session // in which it was acquired

	checkpoint []byte // for the next call of the handler; of the goroutine that calls it alone

	ctx    context.Context
	cancel context.CancelCauseFunc
	expiry *time.Timer   // ends the context when a lease with its own expiry runs out; nil in a session
	done   chan struct{} // closed when the handler will not be called any more

	// Guarded by the coordinator's mutex.
	ending   bool // its context has ended
	lost     bool // its lease is over: there is nothing to release
	released bool
	deadline time.Time // until which the handler may go on, while it is handed over
}

// returned tells whether the handler has returned for good.
func (w *worker) returned() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// ranOut tells whether the lease is over by itself. (Its own Remaining would not tell that where a release has failed.)
func (w *worker) ranOut() bool {
	if w.expiry != nil {
		return w.lease.Load().Remaining() == 0
	}
	return w.session.Remaining() == 0
}

// Delays between the calls of a handler that fails.
const (
	firstRestart = time.Second
	maxRestart   = time.Minute
)

// work calls the handler until the partition is not this node's any more, or it says that it is done.
func (w *worker) work(c *Coordinator) {
	defer c.notice()
	defer close(w.done)
	logger := c.cfg.Logger.With("group", w.group.Name, "partition", w.partition, "epoch", w.epoch)
	for delay := firstRestart; ; delay = min(2*delay, maxRestart) {
		began := time.Now()
		err := w.call()
		if err == nil || w.ctx.Err() != nil {
			return
		}
		if time.Since(began) > maxRestart {
			delay = firstRestart // it worked for a while
		}
		logger.ErrorContext(w.ctx, "dynamolease: handler failed, it is called again", "err", err, "delay", delay)
		c.failed(err)
		if !sleep(w.ctx, delay) || !w.resume(c) {
			return
		}
	}
}

// resume finds out where the work has got to, before the handler is called again: it may have moved the checkpoint on, and
// may have failed because it could not tell whether it had. It reports whether to go on.
func (w *worker) resume(c *Coordinator) bool {
	for {
		lease, err := c.store.Resume(w.ctx, *w.lease.Load())
		var fenced *dynamolease.FencedError
		switch {
		case err == nil:
			w.checkpoint = lease.Checkpoint
			return true
		case errors.As(err, &fenced):
			c.end(w, ErrLost, 0)
			return false
		}
		c.failed(err)
		if !sleep(w.ctx, firstRestart) {
			return false
		}
	}
}

// call calls the handler once. A panic becomes an error.
func (w *worker) call() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("handler panicked: %v\n%s", r, debug.Stack())
		}
	}()
	lease := *w.lease.Load()
	lease.Checkpoint = w.checkpoint
	return w.group.Handler(w.ctx, Lease{lease, w})
}

// extend takes in a renewed lease.
func (w *worker) extend(lease dynamolease.Lease) {
	w.lease.Store(&lease)
	if w.expiry != nil {
		w.expiry.Reset(lease.Remaining())
	}
}

// expire is called when a lease with its own expiry may have run out; a renewal may have extended it meanwhile.
func (w *worker) expire() {
	if left := w.lease.Load().Remaining(); left > 0 {
		w.expiry.Reset(left)
		return
	}
	w.over.Store(true)
	w.cancel(ErrLost)
}
