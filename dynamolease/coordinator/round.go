package coordinator

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator/internal/plan"
)

// planRound looks at the members, and plans each group by them. It ends soon after ctx: a round that
// hangs must not keep the node from stopping.
func (c *Coordinator) planRound(ctx context.Context, consistency dynamolease.Consistency) error {
	defer c.news.tell()
	c.handOver(ctx)
	c.proveAgain(ctx)
	session := c.currentSession()
	if session.Err() != nil {
		return nil // the heartbeat opens another
	}
	began := time.Now()
	look, err := c.store.Look(ctx, c.cfg.Service, consistency)
	if err != nil && ctx.Err() == nil {
		c.report(ctx, "read the members", err)
	}
	if look == nil {
		return nil
	}
	c.certain = began.Add(max(look.Next(), minLook))
	members := look.Members()
	c.noteMembers(members, session, consistency)
	if replaced(members, session) {
		return ErrReplaced
	}
	if session != c.greeted {
		c.greeted = session
		poke(c.hints) // others have to see the new session
	}
	if c.settling(members, began) {
		return nil
	}
	if !listed(members, session) && !broken(err, session) {
		c.certain = time.Time{} // the next heartbeat makes it a member again, and the next round sees that
		return nil
	}
	c.mu.Lock()
	stirred := c.stirred
	c.stirred = false
	c.mu.Unlock()
	c.census.observe(members)
	c.planned = true
	due := c.due(ctx, look, stirred)
	c.census.look(len(due))
	var groups sync.WaitGroup
	for _, l := range due {
		groups.Go(func() {
			if err := c.planGroup(ctx, l, session, look); err != nil && ctx.Err() == nil {
				c.report(ctx, "balance the group "+l.group.Name, err)
			}
		})
	}
	groups.Wait()
	return nil
}

// replaced reports whether the members list this node by a newer process than this one.
func replaced(members []dynamolease.Member, session *dynamolease.Session) bool {
	return slices.ContainsFunc(members, session.ReplacedBy)
}

// A dueGroup is a group that there is a reason to plan.
type dueGroup struct {
	group *group
	participants
}

// due returns the groups that there is a reason to plan. stirred says that this node has lost a lease.
func (c *Coordinator) due(ctx context.Context, look *dynamolease.Look, stirred bool) (due []dueGroup) {
	members, leaving, now := look.Members(), look.Leaving(), time.Now()
	for _, g := range c.groups {
		p := participantsOf(g.Name, members, leaving)
		g.refresh.observe(p, c.lacks(g), now)
		c.compareCounts(ctx, g, members)
		if stirred || c.census.share(g.Name, c.cfg.Node) != g.decided { // by what it knows of other groups
			g.refresh.want(now)
		}
		if !g.refresh.next().After(now) || c.asks(g, p.nodes, now) {
			due = append(due, dueGroup{g, p})
		}
	}
	return due
}

// planGroup plans one group. A node that was refused what it lacks looks once more at once: the others
// have not waited for it.
func (c *Coordinator) planGroup(ctx context.Context, l dueGroup, session *dynamolease.Session, look *dynamolease.Look) error {
	if err := c.claim(ctx, l.group, session, l.nodes); err != nil && ctx.Err() == nil {
		c.report(ctx, "claim the group "+l.group.Name, err)
	}
	if l.group.refresh.next().After(time.Now()) { // it only had to be claimed, and another service works it
		c.census.count(l.group.Name, nil)
		return nil
	}
	refused, err := c.balance(ctx, l.group, session, look, l.participants)
	if refused && err == nil {
		c.census.look(1)
		_, err = c.balance(ctx, l.group, session, look, l.participants)
	}
	return err
}

// lacks returns how many partitions a node has less than its share.
func (c *Coordinator) lacks(g *group) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	held := 0
	for _, w := range g.workers {
		if !w.ending {
			held++
		}
	}
	return max(0, g.share-held)
}

// balance reads the owners of a group, makes a plan, and does what the plan says. It reports whether
// others were faster, and the node still lacks partitions.
func (c *Coordinator) balance(
	ctx context.Context, g *group, session *dynamolease.Session, look *dynamolease.Look, p participants,
) (refused bool, err error) {
	now := time.Now()
	consistency := dynamolease.Eventual
	if g.refresh.begin(now) {
		consistency = dynamolease.Consistent
	}
	h := c.holdings(g) // before the reading: what is acquired later need not be in it
	if !slices.Equal(p.nodes, g.nodes) {
		g.unpinAll()
	}
	g.observe(p.sessions)
	all, rowsErr := look.Leases(ctx, g.Name, consistency)
	malformed, readable := g.malformed(rowsErr)
	if !readable {
		c.census.count(g.Name, nil)
		g.refresh.want(now.Add(c.cfg.Interval))
		return false, rowsErr
	}
	leases := slices.DeleteFunc(slices.Clone(all), func(lease dynamolease.Lease) bool { return lease.Owner == "" })
	g.seen(all)
	plain := slices.ContainsFunc(leases, func(lease dynamolease.Lease) bool { return lease.Session == "" })
	allSignal := rowsErr == nil && p.signalFor(leases)
	g.refresh.schedule(now, allSignal, plain)
	owns := func(lease dynamolease.Lease) bool { return c.leases.owns(session, lease) }
	found := reconcile(c.cfg.Node, leases, owns, malformed, h)
	if consistency == dynamolease.Eventual && found.believe() {
		g.refresh.doubt(now)
	}
	c.settleDifferences(ctx, g, session, found)

	v := c.view(g, found, malformed)
	c.census.count(g.Name, v.Count())
	c.census.await(ctx)
	var shares []int
	v.Members, shares = c.census.of(g.Name)
	g.decided = c.census.share(g.Name, c.cfg.Node)
	planned := plan.New(v, shares)
	c.note(g, p.nodes, planned, found.owners, now)
	c.give(g, found.held, planned)
	got, err := c.take(ctx, g, session, look, v, planned)
	unowned, barred := c.unowned(g, v)
	c.noteUnowned(g, unowned, barred, rowsErr)
	if g.refresh.found(unowned, now) {
		c.signal(session)
	}
	if got.acquired > 0 && g.refresh.gone {
		poke(c.hints) // others may not have seen yet that the session is over
	}
	lacks := planned.Share - len(v.Held) - got.acquired
	g.lacks = lacks
	_, readable = dynamolease.RowErrors(err)
	switch err = cmp.Or(rowsErr, err); {
	case !readable || got.held || got.unclaimed || lacks > 0 && p.mayExpire(leases),
		planned.Mixed && g.refresh.alarmed(now) && (planned.Lacking > 0 || len(planned.Give) > 0):
		g.refresh.want(now.Add(c.cfg.Interval))
	case lacks > 0 && !allSignal:
		g.refresh.want(now.Add(g.refresh.hope(now)))
	case len(unowned) > 0 && g.claimedIn == session.ID(), planned.Lacking > got.acquired && g.refresh.alarmed(now):
		g.refresh.want(now.Add(g.refresh.unclaimed + g.refresh.slot(len(p.nodes), now)))
	}
	return got.refused > 0 && lacks > 0, err
}

// settleDifferences ends the workers that have lost their leases and releases the orphans, so that
// they can be acquired again. An orphan that it cannot release stays this node's.
func (c *Coordinator) settleDifferences(ctx context.Context, g *group, session *dynamolease.Session, found comparison) {
	for _, l := range slices.Concat(found.lost, found.missing) {
		c.endLost(l.worker, lostTo(l.to))
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

// note keeps what a plan says for State and Owner.
func (c *Coordinator) note(g *group, nodes []string, p plan.Plan, owners map[int]string, asOf time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g.nodes, g.share = nodes, p.Share
	g.owners, g.asOf = owners, asOf
}

// give revokes partitions beyond this node's share.
func (c *Coordinator) give(g *group, held map[int]*worker, p plan.Plan) {
	give := p.Give[:g.mayGive(len(p.Give), time.Now())]
	for _, partition := range give {
		c.end(held[partition], ErrRevoked, g.DrainTimeout)
	}
	if len(give) < len(p.Give) {
		g.refresh.want(time.Now().Add(g.refresh.interval)) // the rest follows
	}
}

// unowned returns the partitions that neither have an owner nor are worked here: those that some node may
// take, and those of this node's number that none may.
func (c *Coordinator) unowned(g *group, v plan.View) (unowned, barred map[int]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	unowned, barred = make(map[int]bool), make(map[int]bool)
	for partition := range max(v.Partitions(), g.Partitions) {
		_, owned := v.Owners[partition]
		if w := g.workers[partition]; owned || w != nil && !w.released && !w.lost {
			continue
		}
		if v.Takeable(partition) {
			unowned[partition] = true
		} else if partition < g.Partitions {
			barred[partition] = true
		}
	}
	return unowned, barred
}
