package coordinator

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
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
	c.news.add("gained", w, nil)
	return true, false
}

// work calls the handler until this node does not own the partition any more, or the handler says
// that it is done.
func (c *Coordinator) work(g *group, w *worker) {
	defer c.wakePlanning()
	defer close(w.done)
	for delay := firstRestart; ; delay = min(2*delay, maxRestart) {
		began := time.Now()
		c.calling(w)
		err := call(g.Handler, w)
		switch {
		case w.ctx.Err() != nil:
			return
		case err == nil:
			c.finished(w)
			return
		case time.Since(began) > maxRestart:
			delay = firstRestart // it worked for a while
		}
		c.handlerFailed(w, newFailure(err), delay)
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
			c.endLost(w, lostTo(fenced.Holder))
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

// endLost ends the context of a worker whose lease is over, and says why it is.
func (c *Coordinator) endLost(w *worker, why error) { c.end(w, lost(why), 0) }

func (c *Coordinator) endLocked(w *worker, cause error, drain time.Duration) {
	if errors.Is(cause, ErrLost) && w.lose(cause) {
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
	c.news.add(verb(cause), w, cause)
	if w.returned() {
		c.wakePlanning()
	} else if !w.lost {
		time.AfterFunc(drain, c.wakePlanning)
	}
}

func verb(cause error) string {
	if errors.Is(cause, ErrLost) {
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
		if !w.released && !errors.Is(context.Cause(w.ctx), ErrLost) && !(w.ending && c.leases.remaining(w) == 0) {
			workers[partition] = w
		}
	}
	return workers
}
