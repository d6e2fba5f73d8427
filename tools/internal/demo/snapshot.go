package demo

import (
	"slices"
	"time"
)

// A snapshot is the content of the view.
type snapshot struct {
	elapsed time.Duration
	cells   [Partitions]cell
	workers []workerState
	done    int // partitions
	files   int // counted
	size    int // files in all
	words   int
	news    []news
}

// States of a worker.
const (
	running = "running"
	stopped = "stopped"
	killed  = "killed"
	ended   = "ended"
)

// A cell is one partition.
type cell struct {
	owner int // an index of snapshot.workers: it has the lease, or has completed the partition; or nobody
	adder int // likewise: it added the last chunk
	files int // counted
	size  int // files in all
	done  bool
}

const nobody = -1

type workerState struct {
	name   string
	state  string
	open   int // partitions that it owns and has not completed
	begun  int // of these, those that it has added a chunk to
	closed int // partitions that it has completed
}

// A piece of news is something that happened, and when.
type news struct {
	at   time.Duration
	text string
}

// A transfer is the way of a partition from one worker to another.
type transfer struct{ from, to int }

// transfers compares with an earlier snapshot. It updates before, the latest known owners.
func (s *snapshot) transfers(before *[Partitions]int) map[transfer]int {
	moved := make(map[transfer]int)
	for i, c := range s.cells {
		if c.owner == nobody {
			continue
		}
		if last := before[i]; last != nobody && last != c.owner {
			moved[transfer{last, c.owner}]++
		}
		before[i] = c.owner
	}
	return moved
}

// busiest returns the running worker that is in the middle of the most partitions, or nobody.
func (s *snapshot) busiest() int {
	best := nobody
	for i, w := range s.workers {
		if w.state == running && w.begun > 0 && (best == nobody || w.begun > s.workers[best].begun) {
			best = i
		}
	}
	return best
}

// allBegun reports whether every worker is in the middle of something.
func (s *snapshot) allBegun() bool {
	return !slices.ContainsFunc(s.workers, func(w workerState) bool { return w.begun == 0 })
}
