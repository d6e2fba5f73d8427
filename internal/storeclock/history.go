package storeclock

import (
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/internal/elapsed"
)

const (
	// window is how long samples are kept while newer ones come in.
	window = 3 * time.Minute

	// windowMin is how many samples are kept whatever their age. Few recent
	// samples say less, and can be outvoted more easily, than old ones whose
	// intervals have grown a little.
	windowMin = 20

	// maxSamples bounds the samples kept, and with them the cost of a vote.
	maxSamples = 64

	// clockTolerance is by how much the local clocks may disagree on the age of
	// a sample, beyond their drift or what slewing explains.
	clockTolerance = 50 * time.Millisecond

	// slewShare is the share of a second by which the local clocks part in it at
	// the most, while one of them is slewed. Chrony's default is a twelfth.
	slewShare = 10

	// slewMost is by how much they may have parted so. Together with the tolerance
	// it is less than a second, which a date leaves open anyway.
	slewMost = 900 * time.Millisecond
)

// sample is one response: at some moment between sent and received, the
// store's clock was in [date, date+1s), or up to the slack beyond it.
type sample struct {
	date           instant
	sent, received elapsed.Reading
	connection     string // that it came over; "" if that is unknown
}

// ordered reports whether the readings are those of a possible exchange.
func (s sample) ordered() bool {
	return s.sent.Min <= s.received.Min && s.sent.Max <= s.received.Max
}

// lowAt returns the least that the store's time can be at now.
func (s sample) lowAt(now elapsed.Reading, p drift) instant {
	return s.date.add(p.atLeast(now.Min - s.received.Min))
}

// highAt returns the most that the store's time can be at now, if the date was
// not a cached one.
func (s sample) highAt(now elapsed.Reading, p drift) instant {
	return s.date.add(time.Second + p.atMost(now.Max-s.sent.Max))
}

// agreed reports whether the local clocks agree on the age of the sample. See
// agreed below.
func (s sample) agreed(now elapsed.Reading, p drift) bool { return agreed(s.sent, now, p) }

// agreed reports whether the local clocks agree on how much time has passed
// since a reading. If they do not, this node was suspended since, or a clock of
// it stepped. There is no telling which of them is right, and what is carried on
// by Max would be off by the whole step.
//
// Clocks that are slewed part slowly. Intervals take that in, as their low ends
// go on by Min and their high ends by Max. How fast they part tells it from a
// step, and how far bounds what a small step can be mistaken for.
func agreed(then, now elapsed.Reading, p drift) bool {
	low, high := now.Min-then.Min, now.Max-then.Max
	return high-low <= clockTolerance+max(2*p.over(low), min(low/slewShare, slewMost))
}

// history holds samples in the order in which they were received.
type history struct {
	samples []sample
	lows    []instant // scratch space for vote
	highs   []instant
}

func (h *history) empty() bool { return len(h.samples) == 0 }

// add inserts s, and drops a sample if there are too many.
func (h *history) add(s sample) {
	i := len(h.samples)
	for i > 0 && h.samples[i-1].received.Min > s.received.Min {
		i-- // responses may be observed slightly out of order
	}
	h.samples = slices.Insert(h.samples, i, s)
	h.dropOld()
	if len(h.samples) > maxSamples {
		h.dropCrowded()
	}
}

// dropOld drops what has left the window.
func (h *history) dropOld() {
	newest := h.samples[len(h.samples)-1].received.Min
	old := 0
	for old < len(h.samples)-windowMin && newest-h.samples[old].received.Min > window {
		old++
	}
	h.samples = slices.Delete(h.samples, 0, old)
}

// dropCrowded drops the sample whose neighbours are closest to each other. When
// responses come in fast, those that are kept thus still spread over the whole
// window: they meet the store's seconds at different phases, which is what makes
// the bounds narrow, and a short burst of lies remains a minority. The dates
// have no say in it, or false ones, being extreme, would be preferred.
func (h *history) dropCrowded() {
	crowded, least := 1, time.Duration(1<<63-1)
	for i := 1; i < len(h.samples)-1; i++ {
		gap := h.samples[i+1].received.Min - h.samples[i-1].received.Min
		if gap < least {
			crowded, least = i, gap
		}
	}
	h.samples = slices.Delete(h.samples, crowded, crowded+1)
}

// forget drops the samples that are not agreed on, and reports whether there
// were any.
func (h *history) forget(now elapsed.Reading, p drift) bool {
	n := len(h.samples)
	h.samples = slices.DeleteFunc(h.samples, func(s sample) bool { return !s.agreed(now, p) })
	return len(h.samples) < n
}

// vote has the samples vote on the store's time at now.
func (h *history) vote(now elapsed.Reading, p drift, margin time.Duration) vote {
	h.lows, h.highs = h.lows[:0], h.highs[:0]
	for _, s := range h.samples {
		h.lows = append(h.lows, s.lowAt(now, p).add(-margin))
		h.highs = append(h.highs, s.highAt(now, p).add(margin))
	}
	slices.Sort(h.lows)
	slices.Sort(h.highs)
	elected, votes := elect(h.lows, h.highs, margin)
	n := len(h.samples)
	return vote{
		interval: elected, at: now,
		decided: n >= firmMin || votes >= 2 && 2*votes > n,
		firm:    n >= firmMin && 10*votes >= 9*n && h.several(elected, now, p, margin),
	}
}

// several reports whether the samples that agree with what was elected came over
// two connections at least. One without a name counts as another each time.
func (h *history) several(elected interval, now elapsed.Reading, p drift, margin time.Duration) bool {
	var one *sample
	for i := range h.samples {
		s := &h.samples[i]
		if s.lowAt(now, p).add(-margin) > elected.high || s.highAt(now, p).add(margin) < elected.low {
			continue
		}
		if one != nil && (s.connection == "" || s.connection != one.connection) {
			return true
		}
		one = s
	}
	return false
}
