package coordinator

import (
	"cmp"
	"context"
	"slices"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// take acquires free partitions until this node has its share, and then those that nobody has taken for some rounds: who
// should have them cannot, for some reason, and a partition is better worked beyond a share than not at all. It returns
// how many partitions it got.
func (c *Coordinator) take(ctx context.Context, g *group, session *dynamolease.Session, v view, p plan) (int, error) {
	got, spoilt := c.acquire(ctx, g, session, p.take, p.share-len(v.mine))
	if !legible(spoilt) || !slices.Contains(v.members, v.me) {
		return got, spoilt
	}
	if !c.acquires(session) {
		clear(g.waiting) // others may take them well enough
		return got, spoilt
	}
	neglected := slices.DeleteFunc(g.neglected(v.free()), func(partition int) bool { return c.has(g, partition) })
	more, err := c.acquire(ctx, g, session, neglected, len(neglected))
	for _, partition := range neglected {
		if c.has(g, partition) {
			g.pinned[partition] = c.rounds64() + g.pin // or they would go to and fro
		}
	}
	if more > 0 {
		g.pin = min(2*g.pin, maxPinnedRounds)
	}
	return got + more, cmp.Or(err, spoilt)
}

// neglected are the partitions that have been free for some rounds in which this node could have taken them.
func (g *group) neglected(free []int) []int {
	waiting := make(map[int]int, len(free))
	var list []int
	for _, partition := range free {
		waiting[partition] = g.waiting[partition] + 1
		if waiting[partition] > patientRounds {
			list = append(list, partition)
		}
	}
	g.waiting = waiting
	return list
}

// unpin lets go of what was taken out of turn long enough ago.
func (g *group) unpin(round int64) map[int]bool {
	pinned := make(map[int]bool, len(g.pinned))
	for partition, until := range g.pinned {
		if until <= round {
			delete(g.pinned, partition)
		} else {
			pinned[partition] = true
		}
	}
	return pinned
}

// acquire tries candidates in their order until it has as many as it wants. It stops at the first error, but for that of a
// malformed row, and when others have had so many of them that it is better to look again, in the next round.
func (c *Coordinator) acquire(ctx context.Context, g *group, session *dynamolease.Session, candidates []int, want int) (got int, err error) {
	type result struct {
		acquired bool
		err      error
	}
	results := make(chan result)
	refused := 0
	var spoilt error
	for flying := 0; flying > 0 || err == nil && got < want && len(candidates) > 0; {
		for err == nil && refused < maxRefused && c.acquires(session) && flying < min(acquireInFlight, want-got) && len(candidates) > 0 {
			partition := candidates[0]
			candidates = candidates[1:]
			flying++
			c.running.Go(func() {
				acquired, err := c.acquireOne(ctx, g, session, partition)
				results <- result{acquired, err}
			})
		}
		if flying == 0 {
			break
		}
		r := <-results
		flying--
		if legible(r.err) {
			spoilt = cmp.Or(spoilt, r.err)
		} else {
			err = cmp.Or(err, r.err)
		}
		switch {
		case r.acquired:
			got++
		case r.err == nil:
			refused++
		}
	}
	return got, cmp.Or(err, spoilt)
}

// acquires tells whether this node may acquire anything now: not when its own heartbeat fails, and not when it stops.
func (c *Coordinator) acquires(session *dynamolease.Session) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.alive && !c.stopped && session == c.session && session.Remaining() > 0
}

func (c *Coordinator) acquireOne(ctx context.Context, g *group, session *dynamolease.Session, partition int) (bool, error) {
	var lease dynamolease.Lease
	var acquired bool
	var err error
	if c.cfg.Renewal == PerLease {
		lease, acquired, err = c.store.Acquire(ctx, g.Name, partition, c.owner, c.cfg.TTL)
	} else {
		lease, acquired, err = session.Acquire(ctx, g.Name, partition)
	}
	if err != nil || !acquired {
		return false, err
	}
	started, spare := c.start(g, session, lease)
	if spare {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.cfg.TTL)
		defer cancel()
		err = c.release(ctx, g, session, partition)
	}
	return started, err
}
