package coordinator

import (
	"context"
	"errors"
	"time"
)

// drain ends all handlers and waits until they have returned, each at most for its group's drain timeout, releasing as it
// goes. The heartbeat goes on meanwhile.
func (c *Coordinator) drain(ctx context.Context) {
	c.mu.Lock()
	c.stopped = true
	for _, g := range c.groups {
		for _, w := range g.workers {
			c.endLocked(w, ErrShutdown, g.DrainTimeout)
			if w.lost { // there is nothing to keep, but no handler is to run when the node has stopped
				w.deadline = time.Now().Add(g.DrainTimeout)
			}
		}
	}
	c.mu.Unlock()
	c.running.Go(func() { c.announce(ctx) })
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

// announce takes the node off the members before its handlers have returned: what they give up is the others' share then,
// however long the last of them takes. It delays nothing, and need not succeed.
func (c *Coordinator) announce(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.TTL)
	defer cancel()
	if session := c.current(); session.Err() == nil {
		if err := session.Leave(ctx); err != nil && session.Err() == nil {
			c.report(ctx, "leave the members early", err)
		}
	}
}

// draining tells whether a handler is still to be waited for, and how long at most.
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

// leave releases what could not be released before, and ends the session: the node is no member any more.
func (c *Coordinator) leave(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, max(c.cfg.TTL, 5*time.Second))
	defer cancel()
	var errs []error
	if c.cfg.Renewal == PerLease {
		for _, g := range c.groups {
			for partition := range c.workersOf(g) {
				errs = append(errs, c.release(ctx, g, nil, partition))
			}
		}
	}
	session := c.current()
	if err := session.Err(); err != nil {
		return errors.Join(errs...)
	}
	return errors.Join(append(errs, session.Close(ctx))...)
}
