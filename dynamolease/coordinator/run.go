package coordinator

import (
	"context"
	"errors"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// Run joins a service and runs, for each partition that this node comes to own, the handler of its
// group, until ctx ends. Then it stops acquiring, ends the handlers' contexts with [ErrShutdown],
// waits for the handlers, each at most for its DrainTimeout, releases everything, and leaves the
// service, in this order. The node's heartbeat goes on meanwhile. Run then returns nil.
//
// That takes the longest DrainTimeout and 5 seconds at the most, whatever hangs: the store, a hook, or
// the log handler. What was not released by then is named in the error, and is free when its lease
// expires. A handler that has not returned by then goes on.
//
// While the store cannot be reached, Run goes on trying. Leases run out by themselves, and handlers
// are told.
//
// The error is a [dynamolease.ArgumentError] for a configuration that cannot work, before anything
// else; [ErrReplaced] when another process has joined under this node's name; a
// [dynamolease.SetupError] when the table is missing at the start, or a permission without which the
// node cannot work (what only a takeover needs is told by [Coordinator.Health]); or what went wrong
// with the release at the end.
func Run(ctx context.Context, store *dynamolease.Store, cfg Config) error {
	c, err := New(store, cfg)
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

// Run does what the function [Run] does. It can be called once; a second call is an error.
func (c *Coordinator) Run(ctx context.Context) error {
	if c.began.Swap(true) {
		return errors.New("the coordinator has run before: make another with New")
	}
	// Requests go on after ctx has ended: handlers are drained under leases that are kept.
	c.values = context.WithoutCancel(ctx)
	requests, stop := context.WithCancel(c.values)
	defer c.finish()
	defer c.running.Wait()
	defer stop()
	defer c.hinting(requests)()
	defer context.AfterFunc(ctx, func() { c.stopUntil() })()
	if err := c.join(ctx); err != nil || c.currentSession() == nil {
		return err
	}
	beating, stopBeating := context.WithCancel(requests)
	beats := make(chan struct{})
	c.running.Go(func() {
		defer close(beats)
		c.beat(beating)
	})
	err := c.rounds(ctx)
	stopping, stopAll := context.WithDeadline(requests, c.stopUntil())
	defer stopAll()
	c.drain(stopping, err)
	stopBeating()
	<-beats
	err = errors.Join(err, c.leave(stopping))
	poke(c.hints) // what was left is free now
	return err
}

// rounds plans, once each interval and when there is a reason to, until ctx ends or this node was
// replaced. In between it gives away the partitions whose handlers have returned.
func (c *Coordinator) rounds(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.wake:
			c.handOver(ctx)
		case <-c.asked:
			c.hinted = true
			c.pace.hasten(time.Now())
		case <-timer.C:
			if err := c.look(ctx); err != nil {
				return err
			}
		}
		timer.Reset(time.Until(c.pace.next()))
	}
}

// look looks at the members, and plans by them. A round does so consistently, and counts.
func (c *Coordinator) look(ctx context.Context) error {
	began := time.Now()
	round := c.pace.isRound(began)
	consistency := dynamolease.Eventual
	if round || c.hinted || !began.Before(c.certain) {
		consistency = dynamolease.Consistent
	}
	c.hinted, c.planned, c.certain = false, false, time.Time{}
	c.pace.looked(began)
	if err := c.planRound(ctx, consistency); err != nil {
		return err
	}
	if round {
		c.finishRound(time.Since(began))
		c.pace.round = time.Now().Add(c.pause(ctx))
	}
	c.lookAgain(time.Now())
	return nil
}

// lookAgain has the next look made when there may be something to see. One that failed waits for the
// next round: what it was made for is still due.
func (c *Coordinator) lookAgain(now time.Time) {
	if c.certain.IsZero() {
		return
	}
	c.pace.hasten(c.certain)
	if c.settle.After(c.pace.latest) { // it took nothing yet
		c.pace.hasten(c.settle)
	}
	if c.cfg.Look < c.cfg.Interval {
		c.pace.hasten(now.Add(c.cfg.Look))
	}
	if !c.planned {
		return // the next round may plan, or a hint has it done
	}
	for _, g := range c.groups {
		if !g.refresh.due.IsZero() {
			c.pace.hasten(g.refresh.due)
		}
		if g.awaits(now) {
			c.pace.hasten(now.Add(waitLook))
		}
	}
}

func (c *Coordinator) finishRound(took time.Duration) {
	c.mu.Lock()
	c.round++
	c.took = took
	c.mu.Unlock()
	c.hooks.round(c.State)
}
