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

// requestsInFlight is how many acquisitions or releases a node makes at the same time.
const requestsInFlight = 32

// A handover is a worker whose lease is ready to be released.
type handover struct {
	group  *group
	worker *worker
}

// handOver releases the partitions whose handlers have returned or have used up their time, and
// forgets workers that are over. It keeps a worker whose handler still runs: the partition is not
// worked twice in this process.
func (c *Coordinator) handOver(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.TTL) // of all together: then the leases expire
	defer cancel()
	defer c.news.tell()
	var releases sync.WaitGroup
	slots := make(chan struct{}, requestsInFlight)
	for _, h := range c.ready() {
		slots <- struct{}{}
		releases.Go(func() {
			c.giveAway(ctx, h)
			<-slots
		})
	}
	releases.Wait()
}

// ready returns the workers whose leases to release, in the order of their partitions. It ends
// those that have lost their leases, and drops those that are over.
func (c *Coordinator) ready() []handover {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []handover
	for _, g := range c.groups {
		c.watchStuck(g)
		for partition, w := range g.workers {
			switch {
			case w.lost || errors.Is(context.Cause(w.ctx), ErrLost) || w.ending && !w.released && c.leases.remaining(w) == 0:
				c.endLocked(w, lost(c.leases.ended(w)), 0)
				if w.returned() {
					g.drop(partition)
				}
			case !w.ending || w.released:
				if w.released && w.returned() {
					g.drop(partition)
				}
			case w.returned() || !time.Now().Before(w.deadline):
				list = append(list, handover{g, w})
			}
		}
	}
	slices.SortFunc(list, func(a, b handover) int { return cmp.Compare(a.worker.partition, b.worker.partition) })
	return list
}

// giveAway releases the lease of a worker that has ended. The next round repeats what fails.
func (c *Coordinator) giveAway(ctx context.Context, h handover) {
	g, w := h.group, h.worker
	w.invalid.Store(true)
	if !w.returned() {
		c.logger.WarnContext(ctx, "dynamolease: a handler did not return in time, its partition is given away all the same",
			"group", g.Name, "partition", w.partition, "drain_timeout", g.DrainTimeout)
	}
	if err := c.release(ctx, g, w.session, w.partition); err != nil {
		if !errors.Is(err, context.Canceled) {
			c.report(ctx, "release a partition", err)
		}
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	w.release()
	if w.returned() && g.workers[w.partition] == w {
		g.drop(w.partition)
	}
}

// release frees a partition, and signals that to the other nodes.
func (c *Coordinator) release(ctx context.Context, g *group, session *dynamolease.Session, partition int) error {
	err := c.leases.release(ctx, session, g.Name, partition)
	c.signal(c.currentSession())
	return err
}
