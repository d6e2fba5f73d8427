package demo

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// A history is a run as it should be, for tests to spoil. Worker w1 is killed at 4 s, w2 is stopped from 4 s to 9 s.
type history struct{ facts }

func at(seconds float64) instant { return instant(seconds * float64(time.Second)) }

func (h *history) add(owner string, k kind, partition int, epoch int64, seconds float64, until ...float64) {
	e := event{At: at(seconds), Owner: owner, Kind: k, Partition: partition, Epoch: epoch}
	for _, u := range until {
		e.Until = at(u)
	}
	h.events = append(h.events, e)
}

// tenure is a lease from its acquisition to the result.
func (h *history) tenure(owner string, partition int, epoch int64, from float64) {
	h.add(owner, gained, partition, epoch, from, from+3)
	h.add(owner, counted, partition, epoch, from+0.5)
	h.add(owner, extended, partition, epoch, from+1, from+4)
	h.add(owner, writing, partition, epoch, from+1.5)
	h.add(owner, written, partition, epoch, from+1.6)
	h.add(owner, released, partition, epoch, from+2)
	h.results[partition] = result{partition: partition, tally: tally{files: 2, words: 10}, owner: owner, epoch: epoch}
}

func goodHistory() *history {
	h := &history{facts{
		expected: tally{files: 2 * Partitions, words: 10 * Partitions},
		results:  make(map[int]result),
		ttl:      3 * time.Second,
		diedAt:   map[string]instant{"w1": at(4)},
		stopped:  map[string]span{"w2": {at(4), at(9)}},
	}}
	h.add("w1", gained, 0, 100, 1, 4)
	h.add("w1", counted, 0, 100, 2)
	h.add("w1", extended, 0, 100, 3, 6)
	h.tenure("w3", 0, 101, 4.5) // w1 is dead by then
	h.add("w2", gained, 1, 100, 1, 4)
	h.add("w2", extended, 1, 100, 3, 6)
	h.add("w2", counted, 1, 100, 3.5)
	h.add("w2", lost, 1, 100, 9)
	h.tenure("w4", 1, 101, 6.5) // w2's deadline is over by then
	h.add("w3", gained, 2, 100, 1, 4)
	h.add("w3", released, 2, 100, 2)
	h.tenure("w2", 2, 101, 9.5)
	for p := 3; p < Partitions; p++ {
		h.tenure(fmt.Sprintf("w%d", 3+p%2), p, 100, 1)
	}
	return h
}

func TestVerdict(t *testing.T) {
	v := judge(goodHistory().facts)
	if !v.OK() {
		t.Errorf("problems: %q", v.Problems)
	}
	const want = "words=640 expected=640 partitions=64 workers=4 killed=1 paused=1 takeovers=2 overlaps=0"
	if got := v.String(); got != want {
		t.Errorf("verdict = %s\nwant      %s", got, want)
	}
	if v.Handovers != 1 {
		t.Errorf("handovers = %d, want 1", v.Handovers)
	}
}

func TestVerdictFindsWhatIsWrong(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(h *history)
		want  string // in a problem
		shows string // in the figures
	}{
		{"a partition without a result", func(h *history) {
			delete(h.results, 7)
		}, "partition 7 has no result", "words=630 expected=640 partitions=63"},
		{"a word too many", func(h *history) {
			r := h.results[7]
			r.tally.words++
			h.results[7] = r
		}, "words is 641 and must be 640", "words=641 expected=640"},
		{"a file too few", func(h *history) {
			r := h.results[7]
			r.tally.files--
			h.results[7] = r
		}, "files is 127 and must be 128", ""},
		{"a result by one that never owned it", func(h *history) {
			r := h.results[7]
			r.epoch++
			h.results[7] = r
		}, "partition 7: the result is by w4 (epoch 101), which never owned it", ""},
		{"two owners at one time", func(h *history) {
			h.add("w3", gained, 8, 101, 2.9, 3.5)
		}, "partition 8: w3 (epoch 100) and w3 (epoch 101) both", "overlaps=1"},
		{"taken from a stopped worker before its deadline", func(h *history) {
			h.add("w3", gained, 1, 101, 5.9, 6)
		}, "partition 1: w2 (epoch 100) and w3 (epoch 101) both", "overlaps="},
		{"taken from a killed worker while it was alive", func(h *history) {
			h.add("w4", gained, 0, 101, 3.9, 4)
		}, "partition 0: w1 (epoch 100) and w4 (epoch 101) both", "overlaps="},
		{"an epoch that does not grow", func(h *history) {
			h.add("w3", gained, 9, 99, 5, 6)
		}, "partition 9: the epoch went from 100 (w4) to 99 (w3)", "overlaps=1"},
		{"one epoch for two owners", func(h *history) {
			h.add("w3", gained, 9, 100, 5, 6)
		}, "partition 9: the epoch went from 100 (w4) to 100 (w3)", "overlaps=1"},
		{"a stopped worker that acts when it goes on", func(h *history) {
			h.add("w2", counted, 1, 100, 9.1)
		}, "partition 1: w2 (epoch 100) acted without the lease", "overlaps=1"},
		{"a result written after the release", func(h *history) {
			h.add("w4", writing, 9, 100, 3.1)
		}, "partition 9: w4 (epoch 100) acted without the lease", "overlaps=1"},
		{"nobody killed", func(h *history) {
			h.diedAt = nil
		}, "killed is 0 and must be 1", "killed=0"},
		{"nobody stopped", func(h *history) {
			h.stopped = nil
		}, "paused is 0 and must be 1", "paused=0"},
		{"stopped for too short", func(h *history) {
			h.stopped = map[string]span{"w2": {at(4), at(7)}}
		}, "w2 was stopped for 3s only", "paused=0"},
		{"stopped and went on all the same", func(h *history) {
			h.add("w2", refused, 1, 100, 6.5)
		}, "w2 went on while it was stopped", "paused=0"},
		{"stopped and never continued", func(h *history) {
			h.stopped = map[string]span{"w2": {from: at(4)}}
		}, "w2 was stopped for", "paused=0"},
		{"a worker that owned nothing", func(h *history) {
			h.events = slices.DeleteFunc(h.events, func(e event) bool { return e.Owner == "w2" })
		}, "workers is 3 and must be 4", "workers=3"},
		{"nothing taken over from the killed", func(h *history) {
			h.add("w1", released, 0, 100, 3.9)
		}, "no partition was taken over from w1, which was killed", "takeovers=1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := goodHistory()
			tt.spoil(h)
			v := judge(h.facts)
			if v.OK() || !slices.ContainsFunc(v.Problems, func(p string) bool { return strings.Contains(p, tt.want) }) {
				t.Errorf("problems = %q, want one with %q", v.Problems, tt.want)
			}
			if !strings.Contains(v.String(), tt.shows) {
				t.Errorf("verdict = %s, want %s", v, tt.shows)
			}
		})
	}
}

// A lease that ran out and was extended before anybody took it is the same term, with a gap in which nothing is done.
func TestTermWithAGap(t *testing.T) {
	h := goodHistory()
	h.add("w4", gained, 9, 100, 6, 9) // was given up at 3
	if v := judge(h.facts); !v.OK() {
		t.Errorf("problems: %q", v.Problems)
	}
	h.add("w4", counted, 9, 100, 5)
	if v := judge(h.facts); v.Overlaps != 1 {
		t.Errorf("overlaps = %d for an act in the gap, want 1", v.Overlaps)
	}
}

func TestVerdictBoundsItsProblems(t *testing.T) {
	h := goodHistory()
	h.results = nil
	if v := judge(h.facts); len(v.Problems) != maxProblems+1 {
		t.Errorf("%d problems are listed, want %d", len(v.Problems), maxProblems+1)
	}
}
