package coordinator

import (
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator/internal/plan"
	"github.com/dynamolease/dynamolease/internal/resync"
)

// clockUncertainty is by how much the store's time may delay the end of a lease: both the node that
// wrote the expiry and the node that judges it know that time as an interval.
const clockUncertainty = 5 * time.Second

// A refreshPolicy decides in which rounds a node reads the owners of a group. Reading them costs in
// proportion to the leases.
//
// The node reads them while it has something to do; for some rounds after the sessions of the
// participants have changed; and after one of them has signalled that a partition came free.
// Without such a reason it reads them now and then, which is a resync: more often while a holder
// of a lease does not signal.
//
// Only the planning goroutine uses it.
type refreshPolicy struct {
	name       string // of the node and the group, by which nodes draw different rounds
	partitions int
	interval   time.Duration
	alertAfter int // for how many rounds a change of the participants is a reason

	settled  bool         // the latest plan had nothing to do
	sessions []string     // of the participants
	signals  []int64      // of each node that lists the group
	alert    int          // for how many rounds more a change is a reason
	since    int          // rounds since the owners were read
	resync   int          // rounds after which they are read without a reason
	unowned  map[int]bool // partitions that had no owner when they were read
}

// newRefreshPolicy returns the policy of a node for a group. A lease that a former session of a
// node holds, or a plain lease that was lost, comes free without a change of the nodes: within a
// ttl and the uncertainty of the store's clock. The node reads the owners for as long as that, and
// until partitions are unclaimed.
func newRefreshPolicy(cfg Config, g Group, unclaimed int) refreshPolicy {
	return refreshPolicy{
		name: cfg.Node + "/" + g.Name, partitions: g.Partitions, interval: cfg.Interval,
		alertAfter: int((cfg.TTL+clockUncertainty)/cfg.Interval) + 1 + unclaimed,
	}
}

// observe compares the participants and their signals with those of the round before.
func (r *refreshPolicy) observe(p participants) {
	if !slices.Equal(p.sessions, r.sessions) || !slices.Equal(p.signals, r.signals) {
		r.settled, r.sessions, r.signals = false, p.sessions, p.signals
		r.alert = r.alertAfter
	}
}

// due reports whether to read the owners in this round. changed is a reason that the node knows of
// without the members.
func (r *refreshPolicy) due(changed bool) bool {
	r.since++
	return !r.settled || r.since >= r.resync || changed
}

// begin notes that the node reads the owners.
func (r *refreshPolicy) begin() { r.settled, r.since, r.alert = false, 0, max(0, r.alert-1) }

// schedule draws after how many rounds the next resync is. Each node draws different ones.
// allSignal says that every holder of a lease would signal if it gave the lease up.
func (r *refreshPolicy) schedule(round int64, allSignal bool) {
	partitions := r.partitions
	if !allSignal {
		partitions = 1
	}
	from, to := resync.Rounds(partitions, r.interval)
	r.resync = from + int(plan.Score(r.name, int(round))%uint64(to-from))
}

// found takes the partitions that have no owner, and reports whether there is one that the other
// nodes may not know of: this node saw an owner of it before, or has never looked.
func (r *refreshPolicy) found(unowned map[int]bool) (news bool) {
	before := r.unowned
	r.unowned = unowned
	for partition := range unowned {
		if !before[partition] {
			return true
		}
	}
	return false
}

// finish notes whether the plan had nothing to do, now or in the next rounds.
func (r *refreshPolicy) finish(nothingToDo bool) { r.settled = nothingToDo && r.alert == 0 }
