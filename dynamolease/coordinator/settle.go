package coordinator

import (
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// maxSettle is for how long a node that joins a new fleet waits for others to join, too.
const maxSettle = time.Second

// settling reports whether to take nothing yet: this node has just begun, and so have all members.
// Nodes that start together would each take all partitions otherwise, and give most of them up again. A
// member that has been there for a heartbeat has signalled.
func (c *Coordinator) settling(members []dynamolease.Member, now time.Time) bool {
	if c.begun.IsZero() {
		c.begun = now
	}
	until := c.begun.Add(min(maxSettle, c.cfg.Interval/2))
	settled := func(m dynamolease.Member) bool { return m.Node != c.cfg.Node && m.Signals > 0 }
	if !now.Before(until) || slices.ContainsFunc(members, settled) {
		return false
	}
	c.settle = until
	return true
}
