package coordinator

import (
	"slices"

	"github.com/dynamolease/dynamolease/internal/audit"
)

// A lookout decides in which rounds a node reads the owners of a group: that is what costs in proportion to the leases. It is
// of the planning goroutine alone.
//
// There is a reason to read them while something is to be done; for some rounds after the sessions of those who take part
// have changed; and after one of them has signalled that a partition came free. Without a reason, it is an audit.
type lookout struct {
	settled  bool         // the latest plan found nothing to do
	sessions []string     // of the nodes that take part
	signals  int64        // of them all together
	alert    int          // rounds for which the owners are read whatever they say
	since    int          // rounds since they were read
	audit    int          // after which they are read without a reason
	idle     map[int]bool // partitions that nobody had when they were read
}

// heed takes in who takes part. What a former session of a node holds comes free by itself, within a ttl, while the nodes are
// the same. What is signalled is free by then, except that the store's time may not be so sure about an expiry.
func (l *lookout) heed(sessions []string, signals int64, ttl int) {
	if !slices.Equal(sessions, l.sessions) {
		l.settled, l.sessions, l.alert = false, sessions, ttl+patientRounds
	}
	if signals != l.signals {
		l.settled, l.signals, l.alert = false, signals, max(l.alert, patientRounds+1)
	}
}

// due tells whether the owners are to be read in this round; changed is a reason that the node knows of by itself.
func (l *lookout) due(changed bool) bool {
	l.since++
	return !l.settled || l.since >= l.audit || changed
}

// begin notes that the owners are read, and draws after how many rounds the next audit is. Each node draws others.
func (l *lookout) begin(c *Coordinator, g *group) {
	from, to := audit.Rounds(g.Partitions, c.cfg.Interval)
	spread := score(hashText(c.cfg.Node+"/"+g.Name), int(c.rounds64()))
	l.settled, l.since, l.alert = false, 0, max(0, l.alert-1)
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
