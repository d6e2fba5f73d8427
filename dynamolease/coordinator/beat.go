package coordinator

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/internal/request"
)

// join opens the first session. Until the store answers it tries again, except where trying does not help. When ctx ends
// before, there is none.
func (c *Coordinator) join(ctx context.Context) error {
	for {
		err := c.open(ctx)
		var argument *dynamolease.ArgumentError
		var setup *dynamolease.SetupError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &argument), errors.As(err, &setup), request.Classify(err, true) == request.Failed:
			return err
		case ctx.Err() != nil:
			return nil
		}
		c.report(ctx, "join the service", err)
		if !sleep(ctx, c.cfg.Interval/4) {
			return nil
		}
	}
}

// open opens a session, and has somebody watch for its end.
func (c *Coordinator) open(ctx context.Context) error {
	names := make([]string, len(c.groups))
	for i, g := range c.groups {
		names[i] = g.Name
	}
	session, err := c.store.OpenSession(ctx, dynamolease.Node{Service: c.cfg.Service, Name: c.cfg.Node, Address: c.cfg.Address, Groups: names}, c.cfg.TTL)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.session, c.alive = session, true
	c.mu.Unlock()
	session.Signal() // that this node is one that does
	c.running.Go(func() {
		<-session.Done()
		c.endWorkers(session, ErrLost)
	})
	return nil
}

// beat keeps the node alive: its session, and leases with an expiry of their own. It waits for nothing else: neither for
// handlers nor for requests that plan.
func (c *Coordinator) beat(ctx context.Context) {
	for wait := c.pause(ctx); sleep(ctx, wait); {
		wait = c.pause(ctx)
		began := time.Now()
		err := c.keep(ctx)
		if ctx.Err() != nil {
			return // what the node's end cuts short has not gone wrong
		}
		c.renewed(time.Since(began), err)
		if err != nil {
			c.report(ctx, "keep the leases", err)
			if !legible(err) { // else there is nothing to be won by hurry
				wait = c.cfg.Interval / 10
			}
		}
	}
}

// keep extends the session and, at the same time, each group's leases that have an expiry of their own: what one of them
// waits for is not to cost the others their leases.
func (c *Coordinator) keep(ctx context.Context) error {
	if c.cfg.Renewal == Sessions {
		return c.heartbeat(ctx)
	}
	errs := make([]error, len(c.groups)+1)
	var running sync.WaitGroup
	for i, g := range c.groups {
		running.Go(func() { errs[i] = c.renew(ctx, g) })
	}
	errs[len(c.groups)] = c.heartbeat(ctx)
	running.Wait()
	return errors.Join(errs...)
}

// heartbeat extends the session. It opens another when it is over, which is an error all the same.
func (c *Coordinator) heartbeat(ctx context.Context) error {
	session := c.current()
	member, err := session.Heartbeat(ctx)
	c.endRevoked(session)
	c.mu.Lock()
	if c.alive = err == nil; c.alive {
		c.expires = member.ExpiresAt
	}
	stopped := c.stopped
	c.mu.Unlock()
	if session.Err() == nil || stopped {
		return err
	}
	if openErr := c.open(ctx); openErr != nil {
		return errors.Join(err, openErr)
	}
	c.logger.WarnContext(ctx, "dynamolease: session lost, another was opened", "session", session.ID())
	return err
}

// renew extends a group's leases, where each has an expiry of its own. When it fails they keep what they had left.
func (c *Coordinator) renew(ctx context.Context, g *group) error {
	workers := c.workersOf(g)
	for partition, w := range workers {
		if w.lease.Load().Remaining() == 0 { // after a suspension: what has run out does not come back
			c.end(w, ErrLost, 0)
			delete(workers, partition)
		}
	}
	leases, err := c.store.Renew(ctx, g.Name, slices.Collect(maps.Keys(workers)), c.owner, c.cfg.TTL)
	if !legible(err) {
		return err
	}
	for partition := range malformed(err) { // it has what it had left
		delete(workers, partition)
	}
	for _, lease := range leases {
		if w := workers[lease.Partition]; w != nil && w.epoch == lease.Epoch {
			w.extend(lease)
			delete(workers, lease.Partition)
		}
	}
	for _, w := range workers { // what was left out is lost
		c.end(w, ErrLost, 0)
	}
	return err
}

// workersOf are the workers of a group whose leases are to be kept.
func (c *Coordinator) workersOf(g *group) map[int]*worker {
	c.mu.Lock()
	defer c.mu.Unlock()
	workers := make(map[int]*worker, len(g.workers))
	for partition, w := range g.workers {
		if context.Cause(w.ctx) != ErrLost && !(w.ending && w.ranOut()) {
			workers[partition] = w
		}
	}
	return workers
}

func (c *Coordinator) current() *dynamolease.Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// report logs a failure that is tried again, and notes it for State.
func (c *Coordinator) report(ctx context.Context, what string, err error) {
	c.logger.WarnContext(ctx, "dynamolease: could not "+what+", trying again", "err", err)
	c.failed(err)
}

// sleep waits, and reports whether it did: not when ctx ended before.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}
