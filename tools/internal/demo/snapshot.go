package demo

import (
	"slices"
	"time"
)

// A snapshot is what the view shows.
type snapshot struct {
	elapsed time.Duration
	cells   [Partitions]cell
	workers []workerState
	done    int // partitions
	files   int // that are counted
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
	owner int // the number in snapshot.workers of who has the lease, or has completed it; nobody is -1
	adder int // the number of who added the last chunk; nobody is -1
	files int // that are counted
	size  int // files in all
	done  bool
}

const nobody = -1

type workerState struct {
	name   string
	state  string
	open   int // partitions that it owns and that are not done
	begun  int // of these, how many it has added a chunk to
	closed int // partitions that it has completed
}

// A piece of news is something that happened, and when.
type news struct {
	at   time.Duration
	text string
}

// transfer is a partition that went from one worker to another.
type transfer struct{ from, to int }

// transfers compares with an earlier snapshot. before are the latest owners known of, which it brings up to date.
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

// busiest is the running worker that is in the middle of most partitions; nobody if none is.
func (s *snapshot) busiest() int {
	best := nobody
	for i, w := range s.workers {
		if w.state == running && w.begun > 0 && (best == nobody || w.begun > s.workers[best].begun) {
			best = i
		}
	}
	return best
}

// allBegun tells whether every worker is in the middle of something.
func (s *snapshot) allBegun() bool {
	return !slices.ContainsFunc(s.workers, func(w workerState) bool { return w.begun == 0 })
}
