package coordinator

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// What a stop takes at the most, beyond the longest drain timeout: to release and to leave, and then
// for what hooks and log handlers have to be told. A second more is for a hint that is under way.
const (
	releaseTimeout = 3 * time.Second
	tellTimeout    = time.Second
)

// stopUntil notes that the node stops from now on, unless it does already, and returns until when it may
// make requests.
func (c *Coordinator) stopUntil() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopBy.IsZero() {
		longest := time.Duration(0)
		for _, g := range c.groups {
			longest = max(longest, g.DrainTimeout)
		}
		c.stopBy = time.Now().Add(longest + releaseTimeout)
	}
	return c.stopBy
}

// drain ends all handlers and waits until they have returned, each at most for its group's drain
// timeout. It releases each partition when its handler has returned. The heartbeat goes on
// meanwhile. why is what makes the node stop; nil when its context has ended.
func (c *Coordinator) drain(ctx context.Context, why error) {
	cause := ErrShutdown
	if why != nil {
		cause = fmt.Errorf("%w: %w", ErrShutdown, why)
	}
	c.shutDownWorkers(cause)
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
func (c *Coordinator) shutDownWorkers(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	for _, g := range c.groups {
		for _, w := range g.workers {
			c.endLocked(w, cause, g.DrainTimeout)
			if !w.over() && !errors.Is(context.Cause(w.ctx), ErrLost) {
				c.stopping = append(c.stopping, w)
			}
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
	if c.cfg.LeaseMode == PerLease {
		c.handOver(ctx)
	}
	session := c.currentSession()
	if session.Err() != nil {
		return c.unreleased(nil)
	}
	err := session.Close(ctx)
	if err == nil && c.cfg.LeaseMode == Sessions {
		c.mu.Lock()
		for _, w := range c.stopping {
			w.release()
		}
		c.mu.Unlock()
	}
	return c.unreleased(err)
}

// finish ends what the node tells. The hooks come first: they may lead to records.
func (c *Coordinator) finish() {
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	c.news.tell()
	by := time.Now().Add(tellTimeout)
	c.hooks.calls.Flush(time.Until(by))
	c.hooks.calls.Close()
	c.records.Flush(time.Until(by))
}
