package coordinator

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/internal/jitter"
	"github.com/dynamolease/dynamolease/internal/request"
)

// minBeat is how soon after another heartbeat one may follow out of turn.
// It waits for a moment before: what is given up together comes together.
const (
	minBeat = time.Second
	gather  = 20 * time.Millisecond
)

// join opens the first session, once nothing shows that the node lacks a permission. Until the store
// answers it tries again, except where that cannot
// help. When ctx ends before, there is no session.
func (c *Coordinator) join(ctx context.Context) error {
	if err := c.proveAtStart(ctx); err != nil {
		return err
	}
	for {
		err := c.open(ctx)
		var setup *dynamolease.SetupError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &setup), request.Classify(err) == request.Failed:
			return err
		case ctx.Err() != nil:
			return nil
		}
		c.report(ctx, "join the service", err)
		if !sleep(ctx, c.cfg.Interval/4, nil) {
			return nil
		}
	}
}

// open opens a session, or another one where there was one before, and watches for its end.
func (c *Coordinator) open(ctx context.Context) error {
	session, err := c.newSession(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.session, c.alive = session, true
	c.mu.Unlock()
	session.Signal() // tells the other nodes that this node is one that signals
	c.running.Go(func() {
		<-session.Done()
		c.endWorkers(session)
	})
	return nil
}

// newSession opens a session. After a loss it is one of the same process: it must not look newer than
// a process that has joined under the node's name since.
func (c *Coordinator) newSession(ctx context.Context) (*dynamolease.Session, error) {
	if lost := c.currentSession(); lost != nil {
		return lost.Reopen(ctx)
	}
	return c.store.OpenSession(ctx, c.cfg.node(), c.cfg.TTL)
}

// endWorkers ends the workers whose leases end with a session.
func (c *Coordinator) endWorkers(session *dynamolease.Session) {
	defer c.news.tell()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, g := range c.groups {
		for _, w := range g.workers {
			if c.leases.endsWith(session, w) {
				c.endLocked(w, lost(session.Err()), 0)
			}
		}
	}
}

// beat keeps the node alive: its session, and its plain leases. It waits for nothing else, neither
// for handlers nor for requests that plan.
func (c *Coordinator) beat(ctx context.Context) {
	latest := time.Now()
	next := latest.Add(c.pause(ctx))
	for sleep(ctx, time.Until(next), c.told) {
		began := time.Now()
		if began.Before(next) { // the others should know of something soon
			if soon := later(latest.Add(minBeat), began.Add(gather)); soon.Before(next) {
				latest = c.tell(ctx, soon, next)
			}
			continue
		}
		err := c.keep(ctx)
		if ctx.Err() != nil {
			return // the node's end has cut the requests short
		}
		c.hooks.renewed(time.Since(began), err)
		latest, next = began, time.Now().Add(c.pause(ctx))
		if err != nil {
			c.report(ctx, "keep the leases", err)
			if _, readable := dynamolease.RowErrors(err); !readable { // a malformed row needs no hurry
				next = time.Now().Add(c.cfg.Interval / 10)
			}
		}
	}
}

// tell sends a heartbeat out of turn, so that the others see that this node has given something up.
// One that fails is not repeated: the next one in turn says it, too, and waits for it no longer than for
// one request. It returns when it began.
func (c *Coordinator) tell(ctx context.Context, at, next time.Time) (began time.Time) {
	sleep(ctx, time.Until(at), nil)
	began = time.Now()
	select { // all that has come together meanwhile
	case <-c.told:
	default:
	}
	telling, cancel := context.WithDeadline(ctx, later(next, began.Add(c.cfg.TTL/6)))
	defer cancel()
	err := c.heartbeat(telling)
	if ctx.Err() != nil {
		return began
	}
	c.hooks.renewed(time.Since(began), err)
	if err != nil {
		c.report(ctx, "keep the leases", err)
	}
	return began
}

// pause returns the interval with jitter: nodes that started together do not stay together.
func (c *Coordinator) pause(ctx context.Context) time.Duration {
	tenth := c.cfg.Interval / 10
	return c.cfg.Interval - tenth + jitter.Below(ctx, 2*tenth)
}

// keep extends the session and, at the same time, the leases that do not live by it.
func (c *Coordinator) keep(ctx context.Context) error {
	var renewing sync.WaitGroup
	var renewErr error
	renewing.Go(func() { renewErr = c.leases.renew(ctx, c.groups, c.held, c.endLost) })
	err := c.heartbeat(ctx)
	renewing.Wait()
	c.news.tell()
	return errors.Join(renewErr, err)
}

// heartbeat extends the session. It opens another when the session is over, and returns an error
// all the same. Both together take no longer than a heartbeat may: plain leases wait for their next renewal
// meanwhile.
func (c *Coordinator) heartbeat(ctx context.Context) error {
	until := time.Now().Add(c.cfg.TTL / 2)
	session := c.currentSession()
	tells := c.untold.Swap(false) // before the request: what is given up meanwhile may not be in it
	member, err := session.Heartbeat(ctx)
	c.endRevoked(session)
	c.mu.Lock()
	if c.alive = err == nil; c.alive {
		c.expires = member.ExpiresAt
	}
	stopped := c.stopped
	c.mu.Unlock()
	switch {
	case tells && err == nil:
		poke(c.hints)
	case tells:
		c.untold.Store(true)
	}
	if session.Err() == nil || stopped {
		return err
	}
	opening, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	if openErr := c.open(opening); openErr != nil {
		return errors.Join(err, openErr)
	}
	c.logger.WarnContext(ctx, "dynamolease: session lost, another was opened", "session", session.ID(), "err", session.Err())
	return err
}

// endRevoked hands over the partitions that an operator has taken from this node: see
// [dynamolease.Store.Revoke].
func (c *Coordinator) endRevoked(session *dynamolease.Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, g := range c.groups {
		for _, w := range g.workers {
			if w.session == session && w.lease.Load().Revoked() {
				c.endLocked(w, errOperator, g.DrainTimeout)
			}
		}
	}
}
