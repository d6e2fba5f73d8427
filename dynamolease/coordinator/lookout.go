package coordinator

import (
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/internal/audit"
)

// doubt is by how much the store's time may delay the end of a lease: on the side of who wrote its expiry, and of who judges it.
const doubt = 5 * time.Second

// A lookout decides in which rounds a node reads the owners of a group: that is what costs in proportion to the leases. It is
// of the planning goroutine alone.
//
// There is a reason to read them while something is to be done; for some rounds after the sessions of those who take part
// have changed; and after one of them has signalled that a partition came free. Without a reason, it is an audit: more often
// while a lease is held by somebody whose signals are not heard.
type lookout struct {
	settled  bool         // the latest plan found nothing to do
	sessions []string     // of the nodes that take part
	signals  []int64      // of each who lists the group
	alert    int          // rounds for which the owners are read whatever they say
	since    int          // rounds since they were read
	audit    int          // after which they are read without a reason
	idle     map[int]bool // partitions that nobody had when they were read
}

// heed takes in who takes part, and what they have signalled. What a former session of a node holds comes free by itself while
// the nodes are the same, and so does a lease with an expiry of its own that was lost: within a ttl and the doubt about it.
func (l *lookout) heed(t turnout, ttl, interval time.Duration) {
	if !slices.Equal(t.sessions, l.sessions) || !slices.Equal(t.signals, l.signals) {
		l.settled, l.sessions, l.signals = false, t.sessions, t.signals
		l.alert = int((ttl+doubt)/interval) + 1 + patientRounds
	}
}

// due tells whether the owners are to be read in this round; changed is a reason that the node knows of by itself.
func (l *lookout) due(changed bool) bool {
	l.since++
	return !l.settled || l.since >= l.audit || changed
}

// begin notes that the owners are read.
func (l *lookout) begin() { l.settled, l.since, l.alert = false, 0, max(0, l.alert-1) }

// schedule draws after how many rounds the next audit is. Each node draws others.
func (l *lookout) schedule(c *Coordinator, g *group, allHeard bool) {
	from, to := audit.Rounds(g.Partitions, c.cfg.Interval)
	if !allHeard {
		from, to = audit.Rounds(1, c.cfg.Interval)
	}
	spread := score(hashText(c.cfg.Node+"/"+g.Name), int(c.rounds64()))
	l.audit = from + int(spread%uint64(to-from))
}

// news takes in which partitions nobody has, and tells whether there is one that the others may not know of: this node saw
// an owner of it before, or has never looked.
func (l *lookout) news(idle map[int]bool) bool {
	before := l.idle
	l.idle = idle
	for partition := range idle {
		if !before[partition] {
			return true
		}
	}
	return false
}
