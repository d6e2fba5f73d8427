package demo

import (
	"fmt"
	"slices"
	"time"
)

// maxProblems bounds how many problems are spelled out.
const maxProblems = 20

// The facts are what remains of a run.
type facts struct {
	expected tally
	results  map[int]result
	events   []event            // of all workers, each one's in order
	ttl      time.Duration      // of the leases
	diedAt   map[string]instant // when workers that were killed were gone
	stopped  map[string]span    // when workers were stopped and continued
}

// A Verdict is the figures of a run, and what is wrong with them.
type Verdict struct {
	Words, Expected int // counted by the workers, and by the parent alone
	Partitions      int // with a result
	Workers         int // that owned at least one partition
	Killed          int // by SIGKILL
	Paused          int // stopped for longer than the ttl, which their records bear out
	Takeovers       int // how often a worker acquired a partition after another's lease on it had run out
	Handovers       int // how often a worker acquired a partition that another had released
	Refused         int // results that the store turned away, since the lease was another's by then
	Overlaps        int // how often two workers believed in a lease on one partition, or one acted without it
	Problems        []string
}

// OK tells whether every figure is as it must be.
func (v Verdict) OK() bool { return len(v.Problems) == 0 }

func (v Verdict) String() string {
	return fmt.Sprintf("words=%d expected=%d partitions=%d workers=%d killed=%d paused=%d takeovers=%d overlaps=%d",
		v.Words, v.Expected, v.Partitions, v.Workers, v.Killed, v.Paused, v.Takeovers, v.Overlaps)
}

// Details tells what the figures leave out.
func (v Verdict) Details() string {
	return fmt.Sprintf("%d times a partition was handed over by release, %d late results were turned away", v.Handovers, v.Refused)
}

// judge works the verdict out.
func judge(f facts) Verdict {
	v := Verdict{
		Expected: f.expected.words, Partitions: len(f.results), Workers: countOwners(f.events), Killed: len(f.diedAt),
	}
	terms := collectTerms(f.events, f.diedAt)
	takenFrom := make(map[string]int)
	for _, list := range terms {
		v.overlap(list)
		v.transfers(list, takenFrom)
	}
	for _, e := range f.events {
		if e.Kind == refused {
			v.Refused++
		}
	}
	v.pauses(f)
	v.results(f, terms)
	v.require("workers", v.Workers, Workers)
	v.require("killed", v.Killed, 1)
	v.require("paused", v.Paused, 1)
	for name := range f.diedAt {
		v.requireTakeover("killed", name, takenFrom)
	}
	for name := range f.stopped {
		v.requireTakeover("paused", name, takenFrom)
	}
	return v
}

func (v *Verdict) problem(format string, args ...any) {
	switch {
	case len(v.Problems) < maxProblems:
		v.Problems = append(v.Problems, fmt.Sprintf(format, args...))
	case len(v.Problems) == maxProblems:
		v.Problems = append(v.Problems, "and more")
	}
}

func (v *Verdict) require(figure string, got, want int) {
	if got != want {
		v.problem("%s is %d and must be %d", figure, got, want)
	}
}

func (v *Verdict) requireTakeover(fate, name string, takenFrom map[string]int) {
	if takenFrom[name] == 0 {
		v.problem("no partition was taken over from %s, which was %s", name, fate)
	}
}

// overlap looks for terms of a partition that were believed in at the same time, that are not in the order of their
// epochs, or in which the worker acted when it did not hold the lease.
func (v *Verdict) overlap(list []*term) {
	for i, t := range list {
		for _, later := range list[i+1:] {
			switch {
			case t.overlaps(later):
				v.wrong("partition %d: %s (epoch %d) and %s (epoch %d) both counted on a lease at one time",
					t.partition, t.owner, t.epoch, later.owner, later.epoch)
			case later.epoch <= t.epoch:
				v.wrong("partition %d: the epoch went from %d (%s) to %d (%s)",
					t.partition, t.epoch, t.owner, later.epoch, later.owner)
			}
		}
		if i := slices.IndexFunc(t.acts, func(at instant) bool { return !t.holdsAt(at) }); i >= 0 {
			v.wrong("partition %d: %s (epoch %d) acted without the lease", t.partition, t.owner, t.epoch)
		}
	}
}

func (v *Verdict) wrong(format string, args ...any) {
	v.Overlaps++
	v.problem(format, args...)
}

// transfers counts how often a partition went from one worker to another.
func (v *Verdict) transfers(list []*term, takenFrom map[string]int) {
	for i := 1; i < len(list); i++ {
		switch before := list[i-1]; {
		case before.owner == list[i].owner:
		case before.released:
			v.Handovers++
		default:
			v.Takeovers++
			takenFrom[before.owner]++
		}
	}
}

// pauses counts the workers that were stopped for longer than the ttl. That they were shows in their own records too:
// nothing is in them of that time.
func (v *Verdict) pauses(f facts) {
	for name, stop := range f.stopped {
		if stop.until.sub(stop.from) <= f.ttl {
			v.problem("%s was stopped for %v only, no longer than the ttl", name, stop.until.sub(stop.from))
			continue
		}
		if silence(f.events, name, stop) <= f.ttl {
			v.problem("%s went on while it was stopped", name)
			continue
		}
		v.Paused++
	}
}

// silence is the longest time within during in which name recorded nothing.
func silence(events []event, name string, during span) time.Duration {
	longest, last := time.Duration(0), during.from
	for _, e := range events {
		if e.Owner == name && during.contains(e.At) {
			longest, last = max(longest, e.At.sub(last)), e.At
		}
	}
	return max(longest, during.until.sub(last))
}

// results checks that every partition has a result by a worker that owned it, and that the sums are right.
func (v *Verdict) results(f facts, terms [Partitions][]*term) {
	files := 0
	for partition := range Partitions {
		res, ok := f.results[partition]
		if !ok {
			v.problem("partition %d has no result", partition)
			continue
		}
		v.Words += res.tally.words
		files += res.tally.files
		if !slices.ContainsFunc(terms[partition], func(t *term) bool { return t.owner == res.owner && t.epoch == res.epoch }) {
			v.problem("partition %d: the result is by %s (epoch %d), which never owned it", partition, res.owner, res.epoch)
		}
	}
	v.require("words", v.Words, v.Expected)
	v.require("files", files, f.expected.files)
}

func countOwners(events []event) int {
	owners := make(map[string]bool)
	for _, e := range events {
		owners[e.Owner] = owners[e.Owner] || e.Kind == gained
	}
	n := 0
	for _, owned := range owners {
		if owned {
			n++
		}
	}
	return n
}
