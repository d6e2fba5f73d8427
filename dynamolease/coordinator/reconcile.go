package coordinator

import (
	"maps"
	"slices"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// holdings are the workers of a group at the beginning of a round.
type holdings struct {
	held   map[int]*worker // those that the node goes on with
	ending map[int]bool    // the partitions of the others
}

// A comparison is what follows when the table and the workers of a node are compared.
type comparison struct {
	owners  map[int]string  // the node that owns each partition; empty where that takes no part
	held    map[int]*worker // the workers that still have their lease
	lost    []lostWorker    // the workers whose partition another holder has acquired
	missing []lostWorker    // the workers whose partition is not this node's as they have it
	ending  map[int]bool    // partitions that the node cannot take: a worker of it ends or is lost
	orphans []int           // partitions that the node owns and does not work
}

// A lostWorker is a worker and the lease that took its place, without an owner where none did.
type lostWorker struct {
	worker *worker
	to     dynamolease.Lease
}

// reconcile compares the leases in the table with the workers of a node, and changes nothing.
//
// A partition that the node works and does not own under the worker's epoch was taken from it. One
// that it owns and does not work is an orphan: its acquisition was never answered, and nobody but
// the node itself would free it. A partition with a malformed row stays with the node that works
// it.
func reconcile(
	node string, leases []dynamolease.Lease, owns func(dynamolease.Lease) bool,
	malformed map[int]bool, h holdings,
) comparison {
	c := comparison{
		owners: make(map[int]string, len(leases)),
		held:   maps.Clone(h.held), ending: maps.Clone(h.ending),
	}
	for partition := range malformed {
		c.owners[partition] = ""
	}
	owned, latest := make(map[int]int64), make(map[int]dynamolease.Lease, len(h.held))
	for _, lease := range leases {
		if h.held[lease.Partition] != nil {
			latest[lease.Partition] = lease
		}
		switch holder := lease.Node(); {
		case owns(lease):
			owned[lease.Partition] = lease.Epoch
			c.owners[lease.Partition] = node
		case holder == node: // a former process of the node, which takes no part
			c.owners[lease.Partition] = ""
		default:
			c.owners[lease.Partition] = holder
		}
	}
	for partition, w := range h.held {
		switch epoch, ok := owned[partition]; {
		case malformed[partition], ok && epoch == w.epoch:
			continue
		case latest[partition].Epoch > w.epoch:
			c.lost = append(c.lost, lostWorker{w, latest[partition]})
		default:
			c.missing = append(c.missing, lostWorker{w, latest[partition]})
		}
		delete(c.held, partition)
		c.ending[partition] = true
	}
	for partition := range owned {
		if h.held[partition] == nil && !h.ending[partition] {
			c.orphans = append(c.orphans, partition)
		}
	}
	slices.Sort(c.orphans)
	return c
}

// believe goes by what the node has where an eventual reading shows it otherwise, and reports whether
// there is such a thing: what was just acquired need not be in it, nor what was just released be gone.
// What another holder has acquired since is so for ever.
func (c *comparison) believe() (doubtful bool) {
	doubtful = len(c.missing)+len(c.orphans) > 0
	for _, l := range c.missing {
		c.held[l.worker.partition] = l.worker
		delete(c.ending, l.worker.partition)
	}
	c.missing, c.orphans = nil, nil
	return doubtful
}
