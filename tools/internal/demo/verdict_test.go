package demo

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// A history is a run as it should be, for tests to spoil. Worker w1 is killed at 4 s, w2 is stopped
// from 4 s to 9 s.
type history struct{ facts }

func at(seconds float64) instant { return instant(seconds * float64(time.Second)) }

// add records an event; the worker counts on the lease for left more seconds.
func (h *history) add(owner string, k kind, partition int, epoch int64, seconds, left float64, from, to int) {
	h.events = append(h.events, event{
		At: at(seconds), Until: at(seconds + left), Owner: owner, Kind: k, Partition: partition, Epoch: epoch, From: from, To: to,
	})
}

// chunk records that a chunk of 5 words is added, and adds it.
func (h *history) chunk(owner string, partition int, epoch int64, seconds float64, from, to int) {
	h.add(owner, adding, partition, epoch, seconds, 3, from, to)
	h.add(owner, added, partition, epoch, seconds+0.1, 3, from, to)
	h.put(partition, chunk{from, to, 5, owner, epoch})
}

func (h *history) put(partition int, c chunk) {
	res := h.results[partition]
	res.partition = partition
	res.tally.add(tally{c.To - c.From, c.Words})
	res.chunks = append(res.chunks, c)
	res.complete = c.To == 4
	h.results[partition] = res
}

func goodHistory() *history {
	h := &history{facts{
		results: make(map[int]result),
		ttl:     3 * time.Second,
		diedAt:  map[string]instant{"w1": at(4)},
		stopped: map[string]span{"w2": {at(4), at(9)}},
	}}
	for p := range h.expected {
		h.expected[p] = tally{files: 4, words: 10}
	}
	// Killed in the middle; its successor takes over when it is dead.
	h.add("w1", started, 0, 100, 1, 3, 0, 0)
	h.chunk("w1", 0, 100, 2, 0, 2)
	h.add("w1", kept, 0, 100, 3, 3, 0, 0)
	h.add("w3", started, 0, 101, 4.5, 3, 2, 0)
	h.chunk("w3", 0, 101, 5, 2, 4)
	h.add("w3", returned, 0, 101, 5.2, 2, 0, 0)
	// Stopped in the middle; its successor takes over after its deadline, and what it was about to
	// add is refused.
	h.add("w2", started, 1, 100, 1, 3, 0, 0)
	h.chunk("w2", 1, 100, 2, 0, 2)
	h.add("w2", adding, 1, 100, 3.5, 2.5, 2, 4)
	h.add("w4", started, 1, 101, 6.5, 3, 2, 0)
	h.chunk("w4", 1, 101, 7, 2, 4)
	h.add("w4", returned, 1, 101, 7.2, 2, 0, 0)
	h.add("w2", refused, 1, 100, 9.1, 0, 2, 4)
	h.add("w2", returned, 1, 100, 9.2, 0, 0, 0)
	// Handed over in the middle.
	h.add("w3", started, 2, 100, 1, 3, 0, 0)
	h.chunk("w3", 2, 100, 2, 0, 2)
	h.add("w3", returned, 2, 100, 2.5, 2, 0, 0)
	h.add("w2", started, 2, 101, 9.5, 3, 2, 0)
	h.chunk("w2", 2, 101, 10, 2, 4)
	h.add("w2", returned, 2, 101, 10.5, 2, 0, 0)
	for p := 3; p < Partitions; p++ {
		owner := fmt.Sprintf("w%d", 3+p%2)
		h.add(owner, started, p, 100, 1, 3, 0, 0)
		h.chunk(owner, p, 100, 1.5, 0, 2)
		h.chunk(owner, p, 100, 2, 2, 4)
		h.add(owner, returned, p, 100, 2.5, 2, 0, 0)
	}
	return h
}

func TestVerdict(t *testing.T) {
	v := judge(goodHistory().facts)
	if !v.OK() {
		t.Errorf("problems: %q", v.Problems)
	}
	const want = "words=640 expected=640 partitions=64 workers=4 killed=1 paused=1 takeovers=2 overlaps=0 resumed=3 duplicates=0"
	if got := v.String(); got != want {
		t.Errorf("verdict = %s\nwant      %s", got, want)
	}
	if v.Rescued != 2 || v.Refused != 1 {
		t.Errorf("rescued = %d, refused = %d, want 2 and 1", v.Rescued, v.Refused)
	}
}

func TestVerdictFindsWhatIsWrong(t *testing.T) {
	change := func(partition int, f func(*result)) func(*history) {
		return func(h *history) {
			res := h.results[partition]
			res.chunks = slices.Clone(res.chunks)
			f(&res)
			h.results[partition] = res
		}
	}
	tests := []struct {
		name  string
		spoil func(h *history)
		want  string // in a problem
		shows string // in the figures
	}{
		{"a partition without a result", func(h *history) {
			delete(h.results, 7)
		}, "partition 7: the result is {files:0 words:0} and must be {files:4 words:10}", "partitions=63 workers=4 killed=1 paused=1 takeovers=2 overlaps=0 resumed=3 duplicates=4"},
		{"not complete", change(7, func(r *result) { r.complete = false }), "partitions is 63 and must be 64", "partitions=63"},
		{"a word too many", change(7, func(r *result) { r.tally.words++ }), "words is 641 and must be 640", "words=641 expected=640"},
		{"words in the wrong partition", func(h *history) {
			change(7, func(r *result) { r.tally.words++ })(h)
			change(8, func(r *result) { r.tally.words-- })(h)
		}, "partition 7: the result is {files:4 words:11}", "words=640 expected=640"},
		{"a chunk added twice", func(h *history) {
			h.put(7, chunk{2, 4, 5, "w4", 100})
		}, "duplicates is 2 and must be 0", "duplicates=2"},
		{"a chunk skipped", change(7, func(r *result) { r.chunks, r.tally = r.chunks[1:], tally{2, 5} }),
			"duplicates is 2 and must be 0", "duplicates=2"},
		{"a file counted twice and another one not at all", change(7, func(r *result) { r.chunks[1].From, r.chunks[1].To = 1, 3 }),
			"duplicates is 2 and must be 0", "words=640 expected=640"},
		{"sums that grew without the list", change(7, func(r *result) { r.tally.files++ }), "duplicates is 1 and must be 0", "duplicates=1"},
		{"files that do not exist", change(7, func(r *result) { r.chunks[1].To = 6; r.tally.files = 6 }), "duplicates is 2", "duplicates=2"},
		{"a late write after the next owner's", func(h *history) {
			h.chunk("w2", 1, 100, 9.1, 2, 4)
		}, "partition 1: w2 added to it under epoch 100 after w4 had under epoch 101", "duplicates=2"},
		{"an answer that was not true", func(h *history) {
			h.add("w4", added, 7, 100, 2.2, 1, 4, 5)
		}, "partition 7: 4-5 0 words w4 100 is not in the result although the store said so", "duplicates=0"},
		{"a refusal that was not true", func(h *history) {
			h.add("w4", refused, 7, 100, 2.2, 1, 2, 4)
		}, "partition 7: 2-4 0 words w4 100 is in the result although it was turned away", "duplicates=0"},
		{"a chunk that nobody asked for", change(7, func(r *result) { r.chunks[1].Owner = "w5" }), "although nobody asked for that", ""},
		{"begun after the checkpoint", func(h *history) {
			h.add("w3", started, 9, 101, 5, 1, 2, 0)
		}, "partition 9: w3 (epoch 101) began with file 2, and what was there ended before 4", ""},
		{"two owners at one time", func(h *history) {
			h.add("w3", started, 8, 101, 2.4, 3, 4, 0)
		}, "partition 8: w3 (epoch 100) and w3 (epoch 101) both", "overlaps=1"},
		{"taken from a stopped worker before its deadline", func(h *history) {
			h.add("w3", started, 1, 101, 5.9, 3, 2, 0)
		}, "partition 1: w2 (epoch 100) and w3 (epoch 101) both", "overlaps="},
		{"taken from a killed worker while it was alive", func(h *history) {
			h.add("w4", started, 0, 101, 3.9, 0.1, 2, 0)
		}, "partition 0: w1 (epoch 100) and w4 (epoch 101) both", "overlaps="},
		{"two handlers of one worker", func(h *history) {
			h.events = slices.DeleteFunc(h.events, func(e event) bool { return e.Partition == 8 && e.Kind == returned })
			h.add("w3", started, 8, 100, 2.1, 3, 0, 0)
		}, "partition 8: w3 (epoch 100) ran two handlers at one time", "overlaps=1"},
		{"an epoch that does not grow", func(h *history) {
			h.add("w3", started, 9, 99, 5, 1, 0, 0)
		}, "partition 9: the epoch went from 100 (w4) to 99 (w3)", "overlaps=1"},
		{"one epoch for two owners", func(h *history) {
			h.add("w3", started, 9, 100, 5, 1, 0, 0)
		}, "partition 9: the epoch went from 100 (w4) to 100 (w3)", "overlaps=1"},
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
			h.add("w2", kept, 1, 100, 6.5, 0, 0, 0)
		}, "w2 went on while it was stopped", "paused=0"},
		{"stopped and never continued", func(h *history) {
			h.stopped = map[string]span{"w2": {from: at(4)}}
		}, "w2 was stopped for", "paused=0"},
		{"a worker that worked nothing", func(h *history) {
			h.events = slices.DeleteFunc(h.events, func(e event) bool { return e.Owner == "w2" })
		}, "workers is 3 and must be 4", "workers=3"},
		{"nothing left by the killed", func(h *history) {
			h.add("w1", returned, 0, 100, 3.9, 1, 0, 0)
		}, "nobody went on from a checkpoint of w1, which was killed", "takeovers=1"},
		{"the killed had counted nothing", func(h *history) {
			h.events = slices.DeleteFunc(h.events, func(e event) bool { return e.Owner == "w1" && e.Kind != started })
		}, "although nobody asked for that", ""},
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

// What became of a chunk of which its worker was not told shows in the result.
func TestChunkOfUnknownOutcome(t *testing.T) {
	h := goodHistory()
	h.add("w4", unknown, 7, 100, 2.2, 1, 2, 4) // is there
	h.add("w4", unknown, 7, 100, 2.3, 1, 4, 6) // is not
	if v := judge(h.facts); !v.OK() || v.Refused != 2 {
		t.Errorf("refused = %d, want 2; problems: %q", v.Refused, v.Problems)
	}
}

// A handler that is called again under the same lease is the same term, and no second worker.
func TestTermWithTwoCalls(t *testing.T) {
	h := goodHistory()
	h.add("w4", started, 9, 100, 6, 3, 0, 0)
	h.add("w4", returned, 9, 100, 7, 2, 0, 0)
	if v := judge(h.facts); !v.OK() {
		t.Errorf("problems: %q", v.Problems)
	}
}

func TestVerdictBoundsItsProblems(t *testing.T) {
	h := goodHistory()
	h.results = nil
	if v := judge(h.facts); len(v.Problems) != maxProblems+1 {
		t.Errorf("%d problems are listed, want %d", len(v.Problems), maxProblems+1)
	}
}
