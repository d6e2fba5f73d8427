package coordinator

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// Delays between the calls of a handler that fails.
const (
	firstRestart = time.Second
	maxRestart   = time.Minute
)

// start begins to work a partition that was acquired, and reports whether it did. It does not when
// the partition has a worker already, which then has the lease; nor when the node has begun to stop
// or the lease is over by now: then the lease is spare.
func (c *Coordinator) start(g *group, session *dynamolease.Session, lease dynamolease.Lease) (started, spare bool) {
	w := newWorker(session, lease)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case g.workers[w.partition] != nil:
		return false, false
	case c.stopped || lease.Remaining() == 0:
		return false, true
	}
	w.ctx, w.cancel = context.WithCancelCause(c.values)
	g.workers[w.partition] = w
	c.leases.watch(w)
	go c.work(g, w)
	c.hooks.gained(lease)
	c.logger.Info("dynamolease: partition gained", "group", w.groupName, "partition", w.partition, "epoch", w.epoch)
	return true, false
}

// work calls the handler until this node does not own the partition any more, or the handler says
// that it is done.
func (c *Coordinator) work(g *group, w *worker) {
	defer c.wakePlanning()
	defer close(w.done)
	logger := c.cfg.Logger.With("group", w.groupName, "partition", w.partition, "epoch", w.epoch)
	for delay := firstRestart; ; delay = min(2*delay, maxRestart) {
		began := time.Now()
		err := call(g.Handler, w)
		if err == nil || w.ctx.Err() != nil {
			return
		}
		if time.Since(began) > maxRestart {
			delay = firstRestart // it worked for a while
		}
		logger.ErrorContext(w.ctx, "dynamolease: handler failed, it is called again", "err", err, "delay", delay)
		c.failed(err)
		if !sleep(w.ctx, delay, nil) || !c.resume(w) {
			return
		}
	}
}

// call calls the handler once. A panic becomes an error.
func call(handler Handler, w *worker) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("handler panicked: %v\n%s", r, debug.Stack())
		}
	}()
	return handler(w.ctx, Assignment{w.resumed, w})
}

// resume reads the checkpoint before the handler is called again: the handler may have moved it
// on, and may have failed because it could not tell whether it had. It reports whether to go on.
func (c *Coordinator) resume(w *worker) bool {
	for {
		lease, err := c.store.Resume(w.ctx, *w.lease.Load())
		var fenced *dynamolease.FencedError
		switch {
		case err == nil:
			w.resumed = lease
			return true
		case errors.As(err, &fenced):
			c.endLost(w)
			return false
		}
		c.failed(err)
		if !sleep(w.ctx, firstRestart, nil) {
			return false
		}
	}
}

// end ends the context of a worker. The lease is kept until the handler has returned or the drain
// timeout has passed; then handOver releases it.
func (c *Coordinator) end(w *worker, cause error, drain time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endLocked(w, cause, drain)
}

// endLost ends the context of a worker whose lease is over.
func (c *Coordinator) endLost(w *worker) { c.end(w, ErrLost, 0) }

func (c *Coordinator) endLocked(w *worker, cause error, drain time.Duration) {
	if cause == ErrLost && w.lose() {
		c.stirred = true
		c.signal(c.session)
	}
	if w.ending {
		return
	}
	w.ending = true
	w.deadline = time.Now().Add(drain)
	w.cancel(cause)
	cause = context.Cause(w.ctx) // the lease's expiry may have been faster
	c.hooks.lost(*w.lease.Load(), cause)
	c.logger.Info("dynamolease: partition "+verb(cause), "group", w.groupName, "partition", w.partition, "epoch", w.epoch)
	if w.returned() {
		c.wakePlanning()
	} else if !w.lost {
		time.AfterFunc(drain, c.wakePlanning)
	}
}

func verb(cause error) string {
	if cause == ErrLost {
		return "lost"
	}
	return "handed over"
}

// held returns the workers of a group whose leases the node keeps.
func (c *Coordinator) held(g *group) map[int]*worker {
	c.mu.Lock()
	defer c.mu.Unlock()
	workers := make(map[int]*worker, len(g.workers))
	for partition, w := range g.workers {
		if context.Cause(w.ctx) != ErrLost && !(w.ending && c.leases.remaining(w) == 0) {
			workers[partition] = w
		}
	}
	return workers
}
