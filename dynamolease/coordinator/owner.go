package coordinator

import (
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// Owner returns the member that owns a partition of a group, as this node has read it last, and when
// that was: for routing a request to the node that works the partition. It makes no request. It
// reports false for a partition that had no owner then, whose owner is no member any more, or of a group
// that is none of this node's.
//
// What it says may be old. Nodes read the owners when something has changed, and seldom otherwise; a
// node that gives a partition up, or gets one, knows that at once. So the node that is asked must be
// ready to say that it does not own the partition.
func (c *Coordinator) Owner(name string, partition int) (owner dynamolease.Member, asOf time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.groups, func(g *group) bool { return g.Name == name })
	if i < 0 {
		return dynamolease.Member{}, time.Time{}, false
	}
	g := c.groups[i]
	node, asOf := g.owners[partition], g.asOf
	w := g.workers[partition]
	switch {
	case w != nil && !w.lost && !w.released:
		node, asOf = c.cfg.Node, time.Now()
	case node == c.cfg.Node:
		node = "" // given up since
	}
	m := slices.IndexFunc(c.members, func(m dynamolease.Member) bool { return m.Node == node })
	if node == "" || m < 0 {
		return dynamolease.Member{}, asOf, false
	}
	return c.members[m], asOf, true
}
