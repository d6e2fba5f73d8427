package coordinator

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/dynamolease/dynamolease/dynamolease"
)

const (
	patientRounds   = 2  // after which a free partition that nobody takes is anybody's
	pinnedRounds    = 30 // for which who took such a partition keeps it; twice as long each time, while the nodes are the same
	maxPinnedRounds = 64 * pinnedRounds
	acquireInFlight = 32
	maxRefused      = 32 // in one round
)

// plan is one round: it reads the members, and for each group gives up and takes what follows from them. It ends soon
// after ctx: a round that hangs must not keep the node from stopping.
func (c *Coordinator) plan(ctx context.Context) error {
	c.handOver(ctx)
	session := c.current()
	if session.Err() != nil {
		return nil // the heartbeat opens another
	}
	members, err := c.store.Members(ctx, c.cfg.Service)
	if err != nil && ctx.Err() == nil {
		c.report(ctx, "read the members", err)
	}
	if !legible(err) {
		return nil
	}
	c.mu.Lock()
	c.members = members
	c.mu.Unlock()
	if replaced(members, session) {
		return ErrReplaced
	}
	var groups sync.WaitGroup
	for _, g := range c.groups {
		groups.Go(func() {
			if err := c.planGroup(ctx, g, session, members); err != nil && ctx.Err() == nil {
				c.report(ctx, "balance the group "+g.Name, err)
			}
		})
	}
	groups.Wait()
	return nil
}

// replaced tells whether the members list this node by a newer session than ours.
func replaced(members []dynamolease.Member, session *dynamolease.Session) bool {
	return slices.ContainsFunc(members, func(m dynamolease.Member) bool {
		return m.Node == session.Node() && m.Session != session.ID() && session.Err() == nil
	})
}

// planGroup plans one group, when there is a reason to.
func (c *Coordinator) planGroup(ctx context.Context, g *group, session *dynamolease.Session, members []dynamolease.Member) error {
	turnout := takingPart(members, g.Name)
	mine, barred := c.holdings(g)
	g.lookout.heed(turnout, c.cfg.TTL, c.cfg.Interval)
	if !g.lookout.due(c.changed(g, turnout.nodes, len(mine))) {
		return nil
	}
	g.lookout.begin()
	if !slices.Equal(turnout.nodes, g.nodes) { // whoever did not take a partition may be gone
		g.pin = pinnedRounds
		clear(g.pinned)
	}
	leases, rowsErr := c.store.Owners(ctx, g.Name)
	if !legible(rowsErr) {
		return rowsErr
	}
	g.lookout.schedule(c, g, turnout.hears(leases))
	spoilt := malformed(rowsErr)
	owners := c.reconcile(ctx, g, session, leases, spoilt, mine, barred)
	pinned := g.unpin(c.rounds64())
	maps.Copy(pinned, spoilt) // they could not be released
	v := view{
		me: c.cfg.Node, members: turnout.nodes, partitions: g.Partitions,
		mine: partitions(mine), owners: owners, barred: barred, pinned: pinned,
	}
	p := newPlan(v)
	c.note(g, turnout.nodes, p)
	giving := c.give(g, mine, p)
	got, err := c.take(ctx, g, session, v, p)
	if g.lookout.news(c.idle(g, owners)) {
		session.Signal()
	}
	err = cmp.Or(rowsErr, err)
	g.lookout.settled = err == nil && g.lookout.alert == 0 && giving == 0 && got == 0 && p.free == 0 && len(barred) == len(g.excluded)
	return err
}

// changed tells whether this node knows by itself that a group is to be planned: it has not its share, or others take part.
func (c *Coordinator) changed(g *group, nodes []string, holds int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return holds != g.share || !slices.Equal(nodes, g.nodes)
}

// idle are the partitions that neither have an owner nor run here.
func (c *Coordinator) idle(g *group, owners map[int]string) map[int]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	idle := make(map[int]bool)
	for partition := range g.Partitions {
		_, owned := owners[partition]
		if w := g.workers[partition]; !owned && (w == nil || w.released || w.lost) {
			idle[partition] = true
		}
	}
	return idle
}

func (c *Coordinator) note(g *group, nodes []string, p plan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g.nodes, g.share, g.free = nodes, p.share, p.free
}

// holdings are the workers of a group that this node goes on with, and the partitions that it can't take: those of
// workers that are ending, and the excluded ones.
func (c *Coordinator) holdings(g *group) (mine map[int]*worker, barred map[int]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	mine, barred = make(map[int]*worker), make(map[int]bool)
	for partition := range g.excluded {
		barred[partition] = true
	}
	for partition, w := range g.workers {
		if w.ending || w.ctx.Err() != nil {
			barred[partition] = true
		} else {
			mine[partition] = w
		}
	}
	return mine, barred
}

// reconcile compares what the table says with what runs here, and returns who owns what. A partition of ours that has
// another holder, or none, was taken from us; it is barred until its handler has returned. A lease of ours that we do not run
// is from an acquisition that was never answered: nobody else would ever free it, so we do, and it can be acquired again. What
// has a malformed row stays with whoever has it.
func (c *Coordinator) reconcile(
	ctx context.Context, g *group, session *dynamolease.Session, leases []dynamolease.Lease, malformed map[int]bool,
	mine map[int]*worker, barred map[int]bool,
) map[int]string {
	owners := make(map[int]string, len(leases))
	for partition := range malformed {
		owners[partition] = ""
	}
	ours := make(map[int]int64)
	for _, lease := range leases {
		switch {
		case lease.Session == session.ID(), lease.Session == "" && lease.Owner == c.owner:
			ours[lease.Partition] = lease.Epoch
			owners[lease.Partition] = c.cfg.Node
		default:
			owners[lease.Partition] = nodeOf(lease, c.cfg.Node)
		}
	}
	for partition, w := range mine {
		if epoch, ok := ours[partition]; !malformed[partition] && (!ok || epoch != w.epoch) {
			c.end(w, ErrLost, 0)
			delete(mine, partition)
			barred[partition] = true
		}
	}
	for partition := range ours {
		if !c.has(g, partition) {
			if err := c.release(ctx, g, session, partition); err != nil {
				c.report(ctx, "release an orphan", err)
				continue
			}
			delete(owners, partition)
		}
	}
	return owners
}

// nodeOf is the node that holds a lease. A former process of this very node is somebody else.
func nodeOf(lease dynamolease.Lease, me string) string {
	node, _, _ := strings.Cut(lease.Owner, "#")
	if node == me {
		return ""
	}
	return node
}

func partitions(workers map[int]*worker) []int {
	list := make([]int, 0, len(workers))
	for partition := range workers {
		list = append(list, partition)
	}
	slices.Sort(list)
	return list
}

// give revokes what is beyond this node's share, and returns how many partitions are still to be given up.
func (c *Coordinator) give(g *group, mine map[int]*worker, p plan) int {
	give := p.give
	if g.MovesPerRound > 0 && len(give) > g.MovesPerRound {
		give = give[:g.MovesPerRound]
	}
	for _, partition := range give {
		c.end(mine[partition], ErrRevoked, g.DrainTimeout)
	}
	return len(p.give)
}
