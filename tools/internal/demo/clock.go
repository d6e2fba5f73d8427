package demo

import "time"

// An instant is a reading of a clock, in nanoseconds since 1970.
type instant int64

func (i instant) add(d time.Duration) instant { return i + instant(d) }

func (i instant) sub(j instant) time.Duration { return time.Duration(i - j) }

// A clock gives instants that can be compared between the processes of one run on one machine. It reads the wall clock
// once, when the process starts, and counts on from there by the monotonic clock, which all processes share: a wall
// clock that is set during the run cannot put their records out of order.
type clock struct{ start time.Time }

func newClock() clock { return clock{time.Now()} }

func (c clock) now() instant {
	return instant(c.start.UnixNano()).add(time.Since(c.start))
}

// settleTime is how long two readings of the clock may lie apart for what was read in between to belong to either.
const settleTime = time.Millisecond

// deadline is when something ends of which remaining is left, and when that was looked up. When the process was stopped
// between the readings they are taken again.
func (c clock) deadline(remaining func() time.Duration) (at, until instant) {
	for {
		before := c.now()
		left := remaining()
		if after := c.now(); after.sub(before) < settleTime {
			return after, after.add(left)
		}
	}
}
