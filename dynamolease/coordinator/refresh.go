package coordinator

import (
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator/internal/plan"
	"github.com/dynamolease/dynamolease/internal/resync"
)

const (
	// clockUncertainty is by how much the store's time may delay the end of a lease: both the node that
	// wrote the expiry and the node that judges it know that time as an interval.
	clockUncertainty = 5 * time.Second

	// keyUnits is how many read units a second all nodes together may use of a group's key: two thirds
	// of what DynamoDB allows. rowUnits is about what one row costs, read eventually consistent: a row has
	// some 130 bytes, and a unit reads 8 KB.
	keyUnits = 2000
	rowUnits = 130.0 / 8192

	// unclaimedRounds is for how many rounds a partition may stay free before any node takes it. A holder
	// that should know that its lease is gone hears of it, and has looked, before that.
	unclaimedRounds = 3

	// maxPatience is for how long a node waits for more to come free, if less than half of what it lacks
	// is, or if it has looked just before.
	maxPatience = 2 * time.Second

	// maxChases is how often that time doubles.
	maxChases = 3
)

// A refreshPolicy decides when a node reads the owners of a group. Reading them costs in proportion
// to the leases, for each node, so a node does it a few times after a change, and then no more:
//
//   - at once when the sessions of the service have changed, or a lease of its own was lost;
//   - when it lacks partitions, and as many have come free, or have been waiting for a while;
//   - when it lacks none, some rounds after others have given something up: what is free then is
//     nobody's;
//   - now and then, which is a resync: more often while a holder of a lease does not signal.
//
// Only the planning goroutine uses it.
type refreshPolicy struct {
	name       string // of the node and the group, by which nodes draw different moments
	partitions int
	interval   time.Duration
	alert      time.Duration // for how long a change of the sessions may free what nobody signals

	seen      participants // of the latest look
	due       time.Time    // when to read the owners for a reason; zero for none
	doubtful  bool         // the next reading must be consistent
	news      time.Time    // since when something has come free that this node has not looked for; zero if nothing has
	freed     int64        // how much that is
	stirred   time.Time    // when the latest of it came
	chased    time.Time    // the latest reading for such a reason
	chases    int          // how many of those there were since the sessions changed
	changed   time.Time    // when the sessions changed last
	gone      bool         // in the latest look a session had ended that had not left
	resync    time.Time    // when to read the owners without a reason
	unowned   map[int]bool // partitions that had no owner when they were read
	unclaimed time.Duration
}

// newRefreshPolicy returns the policy of a node for a group. A plain lease that was lost, or is of a
// node that has died, comes free without a change of the sessions: within a ttl and the uncertainty
// of the store's clock.
func newRefreshPolicy(cfg Config, g Group) refreshPolicy {
	return refreshPolicy{
		name: cfg.Node + "/" + g.Name, partitions: g.Partitions, interval: cfg.Interval,
		alert: cfg.TTL + clockUncertainty + cfg.Interval, unclaimed: unclaimedRounds * cfg.Interval,
	}
}

// observe compares the participants with those of the look before. lacks is how many partitions this
// node has less than its share.
func (r *refreshPolicy) observe(p participants, lacks int, now time.Time) {
	freed := p.freedSince(r.seen)
	changed := !slices.Equal(p.sessions, r.seen.sessions)
	r.gone = slices.ContainsFunc(r.seen.sessions[:len(r.seen.nodes)], p.misses)
	r.seen = p
	if changed {
		r.changed, r.chases = now, 0
		r.want(now.Add(r.slot(len(p.nodes), now)))
	}
	if freed == 0 {
		return
	}
	r.freed += freed
	r.stirred = now
	if r.news.IsZero() {
		r.news = now
	}
	switch {
	case lacks == 0:
		r.want(now.Add(r.interval + r.slot(len(p.nodes), now)))
	case 2*r.freed >= int64(lacks):
		r.want(later(now, r.chased.Add(r.patience())))
	default:
		r.want(r.news.Add(r.patience()))
	}
}

// patience is for how long a node waits for more to come free, rather than read the owners for each: the
// longer the more often it has done so since the sessions changed.
func (r *refreshPolicy) patience() time.Duration {
	return min(maxPatience, r.interval/2) << min(r.chases, maxChases)
}

// slot spreads the nodes over the time that the group's key needs for all of them.
func (r *refreshPolicy) slot(nodes int, now time.Time) time.Duration {
	window := time.Duration(float64(nodes) * float64(r.partitions) * rowUnits / keyUnits * float64(time.Second))
	const negligible = 200 * time.Millisecond
	if window < negligible {
		return 0
	}
	return time.Duration(r.draw(now, uint64(window)))
}

// draw returns a number below n, other ones for other nodes and moments.
func (r *refreshPolicy) draw(now time.Time, n uint64) uint64 {
	return plan.Score(r.name, int(now.UnixMilli())) % n
}

// want has the owners read at a moment, or before.
func (r *refreshPolicy) want(at time.Time) {
	if r.due.IsZero() || at.Before(r.due) {
		r.due = at
	}
}

// doubt has the owners read again at once, consistently: an eventual reading does not show what this
// node has.
func (r *refreshPolicy) doubt(now time.Time) {
	r.doubtful = true
	r.want(now)
}

// next returns when to read the owners.
func (r *refreshPolicy) next() time.Time {
	if r.due.IsZero() || r.resync.Before(r.due) {
		return r.resync
	}
	return r.due
}

// begin notes that the node reads the owners, and reports whether that has to be consistent.
func (r *refreshPolicy) begin(now time.Time) (consistent bool) {
	consistent = r.doubtful || r.due.IsZero() || r.due.After(now) // a resync
	if !r.news.IsZero() {
		r.chased = now
		r.chases++
	}
	r.due, r.doubtful, r.news, r.freed = time.Time{}, false, time.Time{}, 0
	return consistent
}

// schedule draws when the next resync is. Each node draws other moments. allSignal says that every
// holder of a lease would signal if it gave the lease up, and otherwise the owners are read in each
// round for a while. plain says that leases have an expiry of their own: one that was lost is not free
// before it has expired by the store's time.
func (r *refreshPolicy) schedule(now time.Time, allSignal, plain bool) {
	partitions := r.partitions
	if !allSignal {
		partitions = 1
	}
	if (plain || !allSignal) && now.Sub(r.changed) < r.alert {
		r.want(now.Add(r.interval))
	}
	if expired := r.stirred.Add(clockUncertainty); plain && expired.After(now) {
		r.want(expired)
	}
	from, to := resync.Rounds(partitions, r.interval)
	rounds := from + int(r.draw(now, uint64(to-from)))
	r.resync = now.Add(time.Duration(rounds) * r.interval)
}

// found takes the partitions that have no owner, and reports whether there is one that the other
// nodes may not know of: this node saw an owner of it before, or has never looked, and nothing that
// all have seen explains it.
func (r *refreshPolicy) found(unowned map[int]bool, now time.Time) (news bool) {
	before := r.unowned
	r.unowned = unowned
	if r.alarmed(now) {
		return false
	}
	for partition := range unowned {
		if !before[partition] {
			return true
		}
	}
	return false
}

// hope is after what time a node looks again for what others may free without a signal: the later the
// longer nothing has happened.
func (r *refreshPolicy) hope(now time.Time) time.Duration {
	return max(r.interval, now.Sub(later(r.changed, r.stirred))/2)
}

// alarmed reports whether something has changed so lately that not all nodes need have done what follows.
func (r *refreshPolicy) alarmed(now time.Time) bool {
	return now.Sub(r.changed) < r.alert || now.Sub(r.stirred) < r.alert
}
