package coordinator

import (
	"context"
	"time"
)

// drain ends all handlers and waits until they have returned, each at most for its group's drain
// timeout. It releases each partition when its handler has returned. The heartbeat goes on
// meanwhile.
func (c *Coordinator) drain(ctx context.Context) {
	c.shutDownWorkers()
	c.running.Go(func() { c.leaveMembers(ctx) })
	for busy := true; busy; c.handOver(ctx) { // once more after the last has returned
		var wait time.Duration
		if wait, busy = c.draining(); busy {
			timer := time.NewTimer(wait)
			select {
			case <-c.wake:
			case <-timer.C:
			}
			timer.Stop()
		}
	}
}

// shutDownWorkers has the node acquire nothing any more, and ends the contexts of all handlers.
func (c *Coordinator) shutDownWorkers() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	for _, g := range c.groups {
		for _, w := range g.workers {
			c.endLocked(w, ErrShutdown, g.DrainTimeout)
			if w.lost { // there is nothing to keep, but no handler may run when the node has stopped
				w.deadline = time.Now().Add(g.DrainTimeout)
			}
		}
	}
}

// leaveMembers takes the node off the members before its handlers have returned: the other nodes'
// shares then contain what it gives up, however long the last handler takes. It delays nothing, and
// may fail.
func (c *Coordinator) leaveMembers(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.TTL)
	defer cancel()
	if session := c.currentSession(); session.Err() == nil {
		if err := session.Leave(ctx); err != nil && session.Err() == nil {
			c.report(ctx, "leave the members early", err)
		}
		poke(c.hints)
	}
}

// draining reports whether there is a handler to wait for, and how long at most.
func (c *Coordinator) draining() (wait time.Duration, busy bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, g := range c.groups {
		for _, w := range g.workers {
			if left := time.Until(w.deadline); !w.returned() && !w.released && left > 0 {
				wait, busy = max(wait, left), true
			}
		}
	}
	return wait, busy
}

// leave releases what drain could not release, and ends the session: the node's row is over then.
func (c *Coordinator) leave(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, max(c.cfg.TTL, 5*time.Second))
	defer cancel()
	return c.leases.close(ctx, c.currentSession(), c.groups, c.held)
}
