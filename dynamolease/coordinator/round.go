package coordinator

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator/internal/plan"
)

// planRound is one round: it reads the members, and plans each group by them. It ends soon after
// ctx: a round that hangs must not keep the node from stopping.
func (c *Coordinator) planRound(ctx context.Context) error {
	c.handOver(ctx)
	session := c.currentSession()
	if session.Err() != nil {
		return nil // the heartbeat opens another
	}
	members, err := c.store.Members(ctx, c.cfg.Service)
	if err != nil && ctx.Err() == nil {
		c.report(ctx, "read the members", err)
	}
	if _, readable := dynamolease.RowErrors(err); !readable {
		return nil
	}
	c.mu.Lock()
	c.members = members
	c.mu.Unlock()
	if replaced(members, session) {
		return ErrReplaced
	}
	c.census.observe(members)
	var groups sync.WaitGroup
	due := c.due(ctx, members)
	c.census.look(len(due))
	for _, l := range due {
		groups.Go(func() {
			if err := c.balance(ctx, l.group, session, l.participants, l.holdings); err != nil && ctx.Err() == nil {
				c.report(ctx, "balance the group "+l.group.Name, err)
			}
		})
	}
	groups.Wait()
	return nil
}

// replaced reports whether the members list this node by a newer session than ours.
func replaced(members []dynamolease.Member, session *dynamolease.Session) bool {
	return slices.ContainsFunc(members, func(m dynamolease.Member) bool {
		return m.Node == session.Node() && m.Session != session.ID() && session.Err() == nil
	})
}

// A dueGroup is a group that there is a reason to plan.
type dueGroup struct {
	group *group
	participants
	holdings
}

// due returns the groups that there is a reason to plan.
func (c *Coordinator) due(ctx context.Context, members []dynamolease.Member) (due []dueGroup) {
	for _, g := range c.groups {
		p := participantsOf(members, g.Name)
		h := c.holdings(g)
		g.refresh.observe(p)
		c.compareCounts(ctx, g, members)
		if g.refresh.due(c.changed(g, p.nodes, len(h.held))) {
			due = append(due, dueGroup{g, p, h})
		}
	}
	return due
}

// balance reads the owners of a group, makes a plan, and does what the plan says.
func (c *Coordinator) balance(
	ctx context.Context, g *group, session *dynamolease.Session, p participants, h holdings,
) error {
	g.refresh.begin()
	if !slices.Equal(p.nodes, g.nodes) {
		g.unpinAll()
	}
	g.observe(p.sessions)
	leases, rowsErr := c.store.Owners(ctx, g.Name)
	malformed, readable := g.malformed(rowsErr)
	if !readable {
		c.census.count(g.Name, nil)
		return rowsErr
	}
	g.refresh.schedule(c.currentRound(), p.signalFor(leases))
	owns := func(lease dynamolease.Lease) bool { return c.leases.owns(session, lease) }
	found := reconcile(c.cfg.Node, leases, owns, malformed, h)
	c.settleDifferences(ctx, g, session, found)

	v := c.view(g, found, malformed)
	c.census.count(g.Name, v.Count())
	c.census.await(ctx)
	var shares []int
	v.Members, shares = c.census.of(g.Name)
	g.decided = c.census.share(g.Name, c.cfg.Node)
	planned := plan.New(v, shares)
	c.note(g, p.nodes, planned)
	giving := c.give(g, found.held, planned)
	got, err := c.take(ctx, g, session, v, planned)
	if g.refresh.found(c.unowned(g, v)) {
		session.Signal()
	}
	err = cmp.Or(rowsErr, err)
	g.refresh.finish(err == nil && giving == 0 && got == 0 && planned.Free == 0 && len(found.ending) == 0)
	return err
}

// settleDifferences ends the workers that have lost their leases and releases the orphans, so that
// they can be acquired again. An orphan that it cannot release stays this node's.
func (c *Coordinator) settleDifferences(ctx context.Context, g *group, session *dynamolease.Session, found comparison) {
	for _, w := range found.lost {
		c.endLost(w)
	}
	for _, partition := range found.orphans {
		if err := c.release(ctx, g, session, partition); err != nil {
			c.report(ctx, "release an orphan", err)
			continue
		}
		delete(found.owners, partition)
	}
}

// view returns what this node knows of a group. It keeps partitions with malformed rows, which it
// could not release.
func (c *Coordinator) view(g *group, found comparison, malformed map[int]bool) plan.View {
	barred := maps.Clone(g.excluded)
	maps.Copy(barred, found.ending)
	pinned := g.unpin(c.currentRound())
	maps.Copy(pinned, g.strays)
	maps.Copy(pinned, malformed)
	return plan.View{
		Node: c.cfg.Node, Members: c.census.membersOf(g.Name),
		Held: slices.Sorted(maps.Keys(found.held)), Owners: found.owners, Barred: barred, Pinned: pinned,
	}
}

// holdings returns the workers of a group: those that this node goes on with, and those that end.
func (c *Coordinator) holdings(g *group) holdings {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := holdings{held: make(map[int]*worker), ending: make(map[int]bool)}
	for partition, w := range g.workers {
		if w.ending || w.ctx.Err() != nil {
			h.ending[partition] = true
		} else {
			h.held[partition] = w
		}
	}
	return h
}

// changed reports whether this node knows without the owners that a group needs a plan: it does not
// have its share, other nodes take part, or its share is another one by what it knows of other groups.
func (c *Coordinator) changed(g *group, nodes []string, holds int) bool {
	share := c.census.share(g.Name, c.cfg.Node)
	c.mu.Lock()
	defer c.mu.Unlock()
	return holds != g.share || !slices.Equal(nodes, g.nodes) || share != g.decided
}

// note keeps what a plan says for State.
func (c *Coordinator) note(g *group, nodes []string, p plan.Plan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g.nodes, g.share, g.free = nodes, p.Share, p.Free
}

// give revokes partitions beyond this node's share, and returns how many there are to give up.
func (c *Coordinator) give(g *group, held map[int]*worker, p plan.Plan) int {
	give := p.Give
	if g.MovesPerRound > 0 && len(give) > g.MovesPerRound {
		give = give[:g.MovesPerRound]
	}
	for _, partition := range give {
		c.end(held[partition], ErrRevoked, g.DrainTimeout)
	}
	return len(p.Give)
}

// unowned returns the partitions of this node's number that neither have an owner nor are worked here,
// and that some node may take.
func (c *Coordinator) unowned(g *group, v plan.View) map[int]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	unowned := make(map[int]bool)
	for partition := range g.Partitions {
		_, owned := v.Owners[partition]
		if w := g.workers[partition]; !owned && (w == nil || w.released || w.lost) && v.Takeable(partition) {
			unowned[partition] = true
		}
	}
	return unowned
}
