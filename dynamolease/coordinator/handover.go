package coordinator

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// start begins to work a partition that was acquired, and reports whether it did. It does not when the partition has a
// worker here already, and the lease is that one's; nor when the node has begun to stop, or the lease is over by now:
// then it is spare.
func (c *Coordinator) start(g *group, session *dynamolease.Session, lease dynamolease.Lease) (started, spare bool) {
	w := &worker{
		group: g, partition: lease.Partition, epoch: lease.Epoch, session: session,
		checkpoint: lease.Checkpoint, done: make(chan struct{}),
	}
	w.lease.Store(&lease)
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
	if c.cfg.Renewal == PerLease {
		w.expiry = time.AfterFunc(time.Hour, w.expire)
		w.expiry.Reset(lease.Remaining())
	}
	go w.work(c)
	c.gained(lease)
	c.logger.Info("dynamolease: partition gained", "group", g.Name, "partition", w.partition, "epoch", w.epoch)
	return true, false
}

// end ends the context of a worker. Its lease is kept until the handler has returned, or the drain timeout has passed;
// then handOver gives it away.
func (c *Coordinator) end(w *worker, cause error, drain time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endLocked(w, cause, drain)
}

func (c *Coordinator) endLocked(w *worker, cause error, drain time.Duration) {
	if cause == ErrLost && !w.lost {
		w.lost = true
		w.over.Store(true)
		c.session.Signal()
	}
	if w.ending {
		return
	}
	w.ending = true
	w.deadline = time.Now().Add(drain)
	w.cancel(cause)
	cause = context.Cause(w.ctx) // its expiry may have been faster
	c.lost(*w.lease.Load(), cause)
	c.logger.Info("dynamolease: partition "+verb(cause), "group", w.group.Name, "partition", w.partition, "epoch", w.epoch)
	if w.returned() {
		c.notice()
	} else if !w.lost {
		time.AfterFunc(drain, c.notice)
	}
}

func verb(cause error) string {
	if cause == ErrLost {
		return "lost"
	}
	return "handed over"
}

// endWorkers ends the workers of a session that is over.
func (c *Coordinator) endWorkers(session *dynamolease.Session, cause error) {
	if c.cfg.Renewal == PerLease {
		return // their leases are good without it
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, g := range c.groups {
		for _, w := range g.workers {
			if w.session == session {
				c.endLocked(w, cause, 0)
			}
		}
	}
}

// endRevoked hands over what an operator has taken from this node: see [dynamolease.Store.Revoke].
func (c *Coordinator) endRevoked(session *dynamolease.Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, g := range c.groups {
		for _, w := range g.workers {
			if w.session == session && w.lease.Load().Revoked() {
				c.endLocked(w, ErrRevoked, g.DrainTimeout)
			}
		}
	}
}

// handOver releases the partitions whose handlers have returned, or have been given their time, and forgets workers that
// are over. One whose handler still runs stays known: the partition is not worked twice in this process.
func (c *Coordinator) handOver(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.TTL) // of all together: then the leases run out by themselves
	defer cancel()
	var release []*worker
	c.mu.Lock()
	for _, g := range c.groups {
		for partition, w := range g.workers {
			switch {
			case context.Cause(w.ctx) == ErrLost || w.lost || w.ending && w.ranOut():
				c.endLocked(w, ErrLost, 0)
				if w.returned() {
					c.drop(g, partition)
				}
			case !w.ending || w.released:
				if w.released && w.returned() {
					c.drop(g, partition)
				}
			case w.returned() || !time.Now().Before(w.deadline):
				release = append(release, w)
			}
		}
	}
	c.mu.Unlock()
	slices.SortFunc(release, func(a, b *worker) int { return cmp.Compare(a.partition, b.partition) })
	var releases sync.WaitGroup
	slots := make(chan struct{}, acquireInFlight)
	for _, w := range release {
		slots <- struct{}{}
		releases.Go(func() {
			c.giveAway(ctx, w)
			<-slots
		})
	}
	releases.Wait()
}

// drop forgets a worker. The caller has the mutex.
func (c *Coordinator) drop(g *group, partition int) {
	if w := g.workers[partition]; w.expiry != nil {
		w.expiry.Stop()
	}
	delete(g.workers, partition)
}

// giveAway releases the lease of a worker that has ended. What fails is tried again in the next round.
func (c *Coordinator) giveAway(ctx context.Context, w *worker) {
	w.over.Store(true)
	if !w.returned() {
		c.logger.WarnContext(ctx, "dynamolease: a handler did not return in time, its partition is given away all the same",
			"group", w.group.Name, "partition", w.partition, "drain_timeout", w.group.DrainTimeout)
	}
	if err := c.release(ctx, w.group, w.session, w.partition); err != nil {
		if !errors.Is(err, context.Canceled) {
			c.report(ctx, "release a partition", err)
		}
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	w.released = true
	if w.returned() && w.group.workers[w.partition] == w {
		c.drop(w.group, w.partition)
	}
}

// release frees a partition, and has the others know.
func (c *Coordinator) release(ctx context.Context, g *group, session *dynamolease.Session, partition int) (err error) {
	if c.cfg.Renewal == PerLease {
		_, err = c.store.Release(ctx, g.Name, partition, c.owner)
	} else {
		_, err = session.Release(ctx, g.Name, partition)
	}
	c.current().Signal()
	return err
}

// has tells whether a partition has a worker here, of whatever state.
func (c *Coordinator) has(g *group, partition int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return g.workers[partition] != nil
}
