package demo

import "time"

// A snapshot is what the view shows.
type snapshot struct {
	elapsed time.Duration
	cells   [Partitions]cell
	workers []workerState
	done    int // partitions
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
	owner int // the worker's number in snapshot.workers of the live lease, or of the result; nobody is -1
	done  bool
}

const nobody = -1

type workerState struct {
	name   string
	state  string
	open   int // partitions that it owns and that are not done
	closed int // partitions that it has done
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

// busiest is the running worker with the most unfinished partitions; nobody if none has any.
func (s *snapshot) busiest() int {
	best := nobody
	for i, w := range s.workers {
		if w.state == running && w.open > 0 && (best == nobody || w.open > s.workers[best].open) {
			best = i
		}
	}
	return best
}
