package storeclock

import (
	"time"

	"github.com/dynamolease/dynamolease/internal/elapsed"
)

// interval is a closed interval of the store's time.
type interval struct {
	low, high instant
}

// vote is the outcome of a vote, and the moment that it holds for.
type vote struct {
	interval
	at      elapsed.Reading
	decided bool // enough samples agree to be believed
	firm    bool // and enough that what they say stays
}

// carried returns what the vote says at the later reading now. The ends of all
// intervals move by the same amounts as time goes on, so that a new vote would
// not tell more.
func (v vote) carried(now elapsed.Reading, p drift) interval {
	return interval{
		low:  v.low.add(p.atLeast(now.Min - v.at.Min)),
		high: v.high.add(p.atMost(now.Max - v.at.Max)),
	}
}

// elect returns the interval that the store's time is taken to be in, and how
// many samples voted for it. The intervals that vote are given by their ends,
// which are sorted, and must have been widened by margin already. There must be
// at least one.
func elect(lows, highs []instant, margin time.Duration) (elected interval, votes int) {
	region, votes := majority(lows, highs)
	n := len(lows)
	if votes < n {
		return widen(region, lows, highs, dissenters(n), 0), votes
	}
	// All agree. Some may be false nevertheless, but only by little: their ends
	// are looked behind as far as the margin, which is there anyway, goes.
	return widen(region, lows, highs, undetected(n), margin), votes
}

// majority is Marzullo's algorithm. It returns the hull of all regions that
// belong to as many intervals as any point does, and the number of those. With
// a tie the hull holds every candidate.
func majority(lows, highs []instant) (hull interval, votes int) {
	count, closed := 0, 0
	for _, low := range lows {
		for highs[closed] < low {
			closed++
			count--
		}
		count++
		// A region begins with a low end and goes on to the next high end. If
		// another low end comes before that, it is replaced by a smaller one.
		switch region := (interval{low, highs[closed]}); {
		case count > votes:
			hull, votes = region, count
		case count == votes:
			hull.high = region.high
		}
	}
	return hull, votes
}

// widen lets region out as far as it must go if so many of the intervals as
// faulty are false. Of the faulty+1 greatest low ends at least one is then true,
// and the store's time is not before it; likewise with the high ends. Intervals
// that lie wholly beyond the region have lost the vote and are passed over.
// An allowance of what is found to be needed is not added.
func widen(region interval, lows, highs []instant, faulty int, allowance time.Duration) interval {
	last, first := len(lows)-1, 0
	for lows[last] > region.high {
		last--
	}
	for highs[first] < region.low {
		first++
	}
	low := lows[max(last-faulty, 0)]
	high := highs[min(first+faulty, len(highs)-1)]
	return interval{
		low:  min(region.low, low.add(allowance)),
		high: max(region.high, high.add(-allowance)),
	}
}

// dissenters is how many of n samples may be false, once they do not all agree:
// one in five, rounded up, but one of two at the most.
func dissenters(n int) int { return min((n+4)/5, n/2) }

// undetected is how many of n samples may be false although they all agree: as
// many as dissenters, up to two; beyond that one in ten, rounded up. Allowing
// for more would make the bounds useless; see the package comment.
func undetected(n int) int { return min(dissenters(n), max(2, (n+9)/10)) }
