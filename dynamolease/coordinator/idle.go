package coordinator

import (
	"cmp"
	"slices"
	"time"
)

// idle returns the partitions of a group that should be worked and are not, in order, and how many
// of them no other node works either. The caller holds the mutex.
func (c *Coordinator) idle(g *group) (list []Partition, free int) {
	now := time.Now()
	free = len(g.unowned)
	for _, p := range g.unowned {
		switch w := g.workers[p.Number]; {
		case w == nil, w.over() && !w.stuck(now, c.cfg.Interval):
			list = append(list, p)
		case !w.over(): // acquired since
			free--
		}
	}
	for partition, w := range g.workers {
		p := Partition{Number: partition}
		switch {
		case w.stuck(now, c.cfg.Interval): // free if it is unowned
			p.Reason, p.Since, p.Err = Stuck, w.overSince, w.loss
		case w.ending:
			continue
		case !w.doneSince.IsZero():
			p.Reason, p.Since = Done, w.doneSince
			free++
		case w.failing(now):
			p.Reason, p.Since, p.Failures, p.Err = Failing, w.failedSince, w.failures, w.failure
			free++
		default:
			continue
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b Partition) int { return cmp.Compare(a.Number, b.Number) })
	return list, free
}

// watchStuck tells of workers whose handlers go on although their leases are over, each once. The
// caller holds the mutex.
func (c *Coordinator) watchStuck(g *group) {
	now := time.Now()
	for _, w := range g.workers {
		if w.stuckTold || !w.stuck(now, c.cfg.Interval) {
			continue
		}
		w.stuckTold = true
		c.hooks.stuck(*w.lease.Load(), w.overSince)
		c.logger.Error("dynamolease: a handler goes on although its lease is over",
			"group", w.groupName, "partition", w.partition, "epoch", w.epoch, "since", w.overSince, "err", w.loss)
	}
}
