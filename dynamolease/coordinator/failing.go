package coordinator

import "time"

// calling notes that the handler is called.
func (c *Coordinator) calling(w *worker) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w.called = time.Now()
}

// finished notes that the handler is done with a partition that this node still owns.
func (c *Coordinator) finished(w *worker) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !w.ending {
		w.doneSince = time.Now()
	}
}

// handlerFailed notes a failure of the handler, and tells of it.
func (c *Coordinator) handlerFailed(w *worker, err *failure, delay time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if w.worked(now) {
		w.failures = 0
	}
	if w.failures++; w.failures == 1 {
		w.failedSince = now
	}
	w.failure, w.called = err, time.Time{}
	c.failure = err
	c.hooks.failed(*w.lease.Load(), w.failures, err)
	c.logger.Error("dynamolease: handler failed, it is called again", "group", w.groupName, "partition", w.partition,
		"epoch", w.epoch, "failures", w.failures, "err", err, "delay", delay)
}
