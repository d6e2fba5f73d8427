package coordinator

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator/internal/plan"
)

// spareTimeout bounds the release of a partition that was acquired too late. If it fails, the lease is
// an orphan: it is found in the next round, or ends with the session.
const spareTimeout = time.Second

// maxRefused is after how many refusals a node stops to acquire, and looks again.
const maxRefused = 32

// A taking is what became of a node's attempts to acquire partitions.
type taking struct {
	acquired, refused int
	held              bool // it wanted more, and may acquire nothing now
	unclaimed         bool // some are beyond its share
}

func (t taking) plus(other taking) taking {
	return taking{t.acquired + other.acquired, t.refused + other.refused, t.held || other.held, t.unclaimed || other.unclaimed}
}

// take acquires free partitions until this node has its share; besides, those that no node below its
// share may take; and then those that have been free for some rounds: the node whose share they are
// cannot take them, and to work a partition beyond a share is better than not to work it.
func (c *Coordinator) take(
	ctx context.Context, g *group, session *dynamolease.Session, look *dynamolease.Look, v plan.View, p plan.Plan,
) (taking, error) {
	if g.claimedIn != session.ID() {
		return taking{}, nil // the owners are read again when this node's service has it
	}
	got, err := c.acquire(ctx, g, session, look, p.Take, p.Share-len(v.Held))
	if _, readable := dynamolease.RowErrors(err); !readable || !v.TakesPart() {
		return got, err
	}
	stray, strayErr := c.acquire(ctx, g, session, look, p.Stray, len(p.Stray))
	got, err = got.plus(stray), cmp.Or(err, strayErr)
	got.unclaimed = got.unclaimed || stray.acquired > 0
	for _, partition := range p.Stray {
		if c.hasWorker(g, partition) {
			g.strays[partition] = true
		}
	}
	if !c.mayAcquire(session) {
		clear(g.waiting) // other nodes may be able to take them
		return got, err
	}
	more, unclaimedErr := c.takeUnclaimed(ctx, g, session, look, v)
	return got.plus(more), cmp.Or(unclaimedErr, err)
}

// takeUnclaimed acquires partitions beyond this node's share that no node has taken for some
// rounds. It pins them: they would move back and forth otherwise.
func (c *Coordinator) takeUnclaimed(
	ctx context.Context, g *group, session *dynamolease.Session, look *dynamolease.Look, v plan.View,
) (taking, error) {
	works := func(partition int) bool { return c.hasWorker(g, partition) }
	unclaimed := slices.DeleteFunc(g.unclaimed(v.Free(), time.Now()), works)
	got, err := c.acquire(ctx, g, session, look, unclaimed, len(unclaimed))
	for _, partition := range unclaimed {
		if works(partition) {
			g.pinned[partition] = c.currentRound() + g.pin
		}
	}
	if got.acquired > 0 {
		got.unclaimed = true
		g.pin = min(2*g.pin, maxPinnedRounds)
	}
	return got, err
}

// acquire tries candidates in their order until it has as many as it wants. It stops at the first
// error other than that of a malformed row, and after maxRefused refusals.
func (c *Coordinator) acquire(
	ctx context.Context, g *group, session *dynamolease.Session, look *dynamolease.Look, candidates []int, want int,
) (got taking, err error) {
	type result struct {
		acquired bool
		err      error
	}
	results := make(chan result)
	var malformed error
	for flying := 0; flying > 0 || err == nil && got.acquired < want && len(candidates) > 0; {
		for err == nil && got.refused < maxRefused && c.mayAcquire(session) && flying < min(requestsInFlight, want-got.acquired) && len(candidates) > 0 {
			partition := candidates[0]
			candidates = candidates[1:]
			flying++
			c.running.Go(func() {
				acquired, err := c.acquireOne(ctx, g, session, look, partition)
				results <- result{acquired, err}
			})
		}
		if flying == 0 {
			break
		}
		r := <-results
		flying--
		if _, readable := dynamolease.RowErrors(r.err); readable {
			malformed = cmp.Or(malformed, r.err)
		} else {
			err = cmp.Or(err, r.err)
		}
		switch {
		case r.acquired:
			got.acquired++
		case r.err == nil:
			got.refused++
		}
	}
	got.held = got.acquired < want && len(candidates) > 0 && !c.mayAcquire(session)
	return got, cmp.Or(err, malformed)
}

// mayAcquire reports whether this node may acquire anything now: it may not when its own heartbeat
// fails, and when it stops.
func (c *Coordinator) mayAcquire(session *dynamolease.Session) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.alive && !c.stopped && session == c.session && session.Remaining() > 0
}

// acquireOne acquires a partition and starts its worker, and reports whether it did both.
func (c *Coordinator) acquireOne(
	ctx context.Context, g *group, session *dynamolease.Session, look *dynamolease.Look, partition int,
) (bool, error) {
	lease, acquired, err := c.leases.acquire(ctx, look, session, g.Name, partition)
	if err != nil || !acquired {
		return false, err
	}
	started, spare := c.start(g, session, lease)
	if spare {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), spareTimeout) // the round waits for it
		defer cancel()
		err = c.release(ctx, g, session, partition)
	}
	return started, err
}

// hasWorker reports whether a partition has a worker here, in whatever state.
func (c *Coordinator) hasWorker(g *group, partition int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return g.workers[partition] != nil
}
