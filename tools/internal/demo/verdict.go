package demo

import (
	"fmt"
	"time"
)

// maxProblems bounds the problems that a verdict lists.
const maxProblems = 20

// The facts are the evidence of a run.
type facts struct {
	expected [Partitions]tally
	results  map[int]result
	events   []event            // of all workers, each one's in order
	ttl      time.Duration      // of the leases
	diedAt   map[string]instant // when killed workers were gone
	stopped  map[string]span    // from the stop of workers until they went on
}

// A Verdict is the figures of a run, and what is wrong with them.
type Verdict struct {
	Words      int      `json:"words"`      // counted by the workers
	Expected   int      `json:"expected"`   // counted by the parent alone
	Partitions int      `json:"partitions"` // that are complete
	Workers    int      `json:"workers"`    // that worked
	Killed     int      `json:"killed"`     // by SIGKILL
	Paused     int      `json:"paused"`     // stopped for longer than the ttl, which their records bear out
	Takeovers  int      `json:"takeovers"`  // begun partitions whose former lease had run out
	Refused    int      `json:"refused"`    // chunks that the store refused: the lease was another's
	Overlaps   int      `json:"overlaps"`   // pairs of workers that relied on one lease at one time
	Resumed    int      `json:"resumed"`    // checkpoints from which another worker went on
	Rescued    int      `json:"rescued"`    // of these, after a takeover rather than a hand-over
	Duplicates int      `json:"duplicates"` // files that went into the results more than once, or not at all
	Problems   []string `json:"problems,omitempty"`
}

// OK reports whether every figure is as it must be.
func (v Verdict) OK() bool { return len(v.Problems) == 0 }

func (v Verdict) String() string {
	return fmt.Sprintf(
		"words=%d expected=%d partitions=%d workers=%d killed=%d paused=%d takeovers=%d overlaps=%d resumed=%d duplicates=%d",
		v.Words, v.Expected, v.Partitions, v.Workers, v.Killed, v.Paused, v.Takeovers, v.Overlaps, v.Resumed, v.Duplicates)
}

// Details returns what the figures leave out.
func (v Verdict) Details() string {
	return fmt.Sprintf("workers went on from checkpoints %d times after a takeover, %d times after a hand-over; "+
		"%d writes under a lease that was gone were turned away", v.Rescued, v.Resumed-v.Rescued, v.Refused)
}

// judge returns the verdict on the facts.
func judge(f facts) Verdict {
	v := Verdict{Workers: countOwners(f.events), Killed: len(f.diedAt)}
	rescued := make(map[string]int)
	for partition, list := range collectTerms(f.events, f.diedAt) {
		v.overlap(list)
		v.succession(list, f.results[partition].chunks, rescued)
	}
	v.pauses(f)
	v.audit(f)
	v.require("partitions", v.Partitions, Partitions)
	v.require("words", v.Words, v.Expected)
	v.require("duplicates", v.Duplicates, 0)
	v.require("workers", v.Workers, Workers)
	v.require("killed", v.Killed, 1)
	v.require("paused", v.Paused, 1)
	for name := range f.diedAt {
		v.requireRescue("killed", name, rescued)
	}
	for name := range f.stopped {
		v.requireRescue("paused", name, rescued)
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

func (v *Verdict) requireRescue(fate, name string, rescued map[string]int) {
	if rescued[name] == 0 {
		v.problem("nobody went on from a checkpoint of %s, which was %s", name, fate)
	}
}

// overlap looks for terms of a partition at the same time, for terms in another order than their
// epochs, and for two handlers of one term.
func (v *Verdict) overlap(list []*term) {
	for i, t := range list {
		if t.twice {
			v.wrong("partition %d: %s (epoch %d) ran two handlers at one time", t.partition, t.owner, t.epoch)
		}
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
	}
}

func (v *Verdict) wrong(format string, args ...any) {
	v.Overlaps++
	v.problem(format, args...)
}

// succession checks how a partition went from one worker to another. A handler must begin exactly
// where the chunks end that were added before. rescued counts, for each worker, how often others
// went on from its checkpoint after a takeover.
func (v *Verdict) succession(list []*term, chunks []chunk, rescued map[string]int) {
	before := &term{handed: true}
	for _, t := range list {
		last := lastBefore(chunks, t.epoch)
		if t.from != last.To {
			v.problem("partition %d: %s (epoch %d) began with file %d, and what was there ended before %d",
				t.partition, t.owner, t.epoch, t.from, last.To)
		}
		resumes, takes := t.from > 0 && last.Owner != t.owner, !before.handed && before.owner != t.owner
		if takes {
			v.Takeovers++
		}
		if resumes {
			v.Resumed++
		}
		if resumes && takes {
			v.Rescued++
			rescued[last.Owner]++
		}
		before = t
	}
}

// lastBefore returns the last chunk that was added under an older epoch.
func lastBefore(chunks []chunk, epoch int64) (last chunk) {
	for _, c := range chunks {
		if c.Epoch < epoch {
			last = c
		}
	}
	return last
}

// pauses counts the workers that were stopped for longer than the ttl. Their own records must show
// it: they contain nothing of that time.
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

// silence returns the longest time within during in which name recorded nothing.
func silence(events []event, name string, during span) time.Duration {
	longest, last := time.Duration(0), during.from
	for _, e := range events {
		if e.Owner == name && during.contains(e.At) {
			longest, last = max(longest, e.At.sub(last)), e.At
		}
	}
	return max(longest, during.until.sub(last))
}

func countOwners(events []event) int {
	owners := make(map[string]bool)
	for _, e := range events {
		owners[e.Owner] = true
	}
	return len(owners)
}
