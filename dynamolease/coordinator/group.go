package coordinator

import (
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

const (
	// pinnedRounds is for how many rounds a node keeps a partition that it took beyond its share.
	// The time doubles with each such take, up to maxPinnedRounds, while the nodes stay the same.
	pinnedRounds    = 30
	maxPinnedRounds = 64 * pinnedRounds
)

// A group holds what this node knows and does of one group.
type group struct {
	Group
	excluded map[int]bool

	// The coordinator's mutex guards these.
	workers map[int]*worker // by partition: those of this node, and those that end
	nodes   []string        // that took part in the latest round
	share   int             // of this node, by the latest plan
	unowned []Partition     // that no node works, by the latest look at the owners; in order
	owners  map[int]string  // the node of each lease, as it was read last
	asOf    time.Time       // when that was

	otherService string // that works the group, while this node's must not

	otherCounts  map[string]int // of partitions, of the members that have another number than this node
	countsDiffer time.Time      // since when there are such members

	// Only the planning goroutine uses these.
	claimedIn string    // the session in which this node's service was seen to work the group
	asks      time.Time // when to claim the group again, if it is not claimed
	refresh   refreshPolicy
	decided   int             // the share of this node, as it was decided when the owners were read last
	strays    map[int]bool    // partitions that this node took since no member below its share may take them
	sessions  []string        // of the members, when the owners were read last
	lacks     int             // how many partitions this node lacked after the latest plan
	giving    time.Time       // since when gave counts
	gave      int             // partitions that were given up since, where MovesPerRound bounds them
	waiting   map[int]vacancy // partitions that have been free
	epochs    map[int]int64   // of the leases as they were read
	pinned    map[int]int64   // partitions taken beyond the share, and the round until which they are kept
	pin       int64           // for how many rounds the next ones are kept
}

// A vacancy is since when nobody has held a partition, as this node has seen it, and under which epoch
// somebody last did.
type vacancy struct {
	since time.Time
	epoch int64
}

func newGroup(cfg Config, g Group) *group {
	state := &group{
		Group: g, excluded: make(map[int]bool), workers: make(map[int]*worker),
		refresh: newRefreshPolicy(cfg, g), waiting: make(map[int]vacancy), pinned: make(map[int]int64), strays: make(map[int]bool),
	}
	for _, partition := range g.Exclude {
		state.excluded[partition] = true
	}
	return state
}

// malformed returns the partitions whose rows an error names, and reports whether the call that
// returned it could read all other rows. A person has to find out what is wrong with such a row.
// Until then no node takes the partition, and a node that works it goes on.
func (g *group) malformed(err error) (partitions map[int]bool, readable bool) {
	rows, readable := dynamolease.RowErrors(err)
	partitions = make(map[int]bool)
	for _, row := range rows {
		if name, partition, ok := row.Partition(); ok && name == g.Name {
			partitions[partition] = true
		}
	}
	return partitions, readable
}

// drop forgets a worker. The caller holds the coordinator's mutex.
func (g *group) drop(partition int) {
	if w := g.workers[partition]; w.expiry != nil {
		w.expiry.Stop()
	}
	delete(g.workers, partition)
}

// mayGive returns how many of so many partitions may be given up now: looks between rounds count with
// the round before.
func (g *group) mayGive(wanted int, now time.Time) int {
	if g.MovesPerRound == 0 {
		return wanted
	}
	if now.Sub(g.giving) >= g.refresh.interval*9/10 { // rounds are a tenth apart at random
		g.giving, g.gave = now, 0
	}
	n := min(wanted, g.MovesPerRound-g.gave)
	g.gave += n
	return n
}

// seen notes the epochs of the leases as they were read.
func (g *group) seen(leases []dynamolease.Lease) {
	g.epochs = make(map[int]int64, len(leases))
	for _, lease := range leases {
		g.epochs[lease.Partition] = lease.Epoch
	}
}

// awaits reports whether others are about to give up what this node lacks.
func (g *group) awaits(now time.Time) bool {
	return g.lacks > 0 && now.Sub(g.refresh.changed) < g.refresh.alert
}

// unclaimed returns the partitions that have been free for some rounds in which this node could
// have taken them.
func (g *group) unclaimed(free []int, now time.Time) []int {
	waiting := make(map[int]vacancy, len(free))
	var list []int
	for _, partition := range free {
		v, ok := g.waiting[partition]
		if !ok || v.epoch != g.epochs[partition] {
			v = vacancy{now, g.epochs[partition]}
		}
		waiting[partition] = v
		if now.Sub(v.since) >= g.refresh.unclaimed {
			list = append(list, partition)
		}
	}
	g.waiting = waiting
	return list
}

// unpinAll lets all pinned partitions go: when the nodes change, one that did not take its
// partition may be gone.
func (g *group) unpinAll() {
	g.pin = pinnedRounds
	clear(g.pinned)
}

// observe compares the sessions of the members with those before. When they change, nodes notice at
// different times whose share has grown. So partitions that are free have not waited for long.
//
// The strays may go then: others may be able to take them now. They stay otherwise. Which member has an
// extra partition depends on which has one already, and so partitions that some exclude might move for
// ever.
func (g *group) observe(sessions []string) {
	if !slices.Equal(sessions, g.sessions) {
		g.sessions = sessions
		clear(g.strays)
		clear(g.waiting)
	}
}

// unpin lets partitions go that have been pinned for long enough, and returns those that still are.
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
