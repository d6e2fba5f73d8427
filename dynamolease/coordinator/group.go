package coordinator

import (
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

const (
	// unclaimedRounds is for how many rounds a partition may stay free before any node takes it.
	unclaimedRounds = 2

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
	free    int             // partitions without an owner, by the latest plan

	otherCounts  map[string]int // of partitions, of the members that have another number than this node
	countsDiffer time.Time      // since when there are such members

	// Only the planning goroutine uses these.
	refresh  refreshPolicy
	decided  int           // the share of this node, as it was decided when the owners were read last
	waiting  map[int]int   // for how many rounds partitions have been free
	pinned   map[int]int64 // partitions taken beyond the share, and the round until which they are kept
	strays   map[int]bool  // partitions that this node took since no member below its share may take them
	sessions []string      // of the members, when the owners were read last
	pin      int64         // for how many rounds the next ones are kept
}

func newGroup(cfg Config, g Group) *group {
	state := &group{
		Group: g, excluded: make(map[int]bool), workers: make(map[int]*worker),
		refresh: newRefreshPolicy(cfg, g, unclaimedRounds), waiting: make(map[int]int), pinned: make(map[int]int64), strays: make(map[int]bool),
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

// unclaimed returns the partitions that have been free for some rounds in which this node could
// have taken them.
func (g *group) unclaimed(free []int) []int {
	waiting := make(map[int]int, len(free))
	var list []int
	for _, partition := range free {
		waiting[partition] = g.waiting[partition] + 1
		if waiting[partition] > unclaimedRounds {
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
