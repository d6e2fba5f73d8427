package demo

import "time"

// An instant is a reading of a clock, in nanoseconds since 1970.
type instant int64

func (i instant) add(d time.Duration) instant { return i + instant(d) }

func (i instant) sub(j instant) time.Duration { return time.Duration(i - j) }

// A clock gives instants that processes of one run on one machine can compare. It reads the wall
// clock once, at the start of the process, and goes on by the monotonic clock, which all processes
// share. So a change of the wall clock during the run does not disorder their records.
type clock struct{ start time.Time }

func newClock() clock { return clock{time.Now()} }

func (c clock) now() instant {
	return instant(c.start.UnixNano()).add(time.Since(c.start))
}

// settleTime bounds the time between two readings of the clock if a value read in between is to
// belong to both.
const settleTime = time.Millisecond

// deadline returns when a remaining time is over, and when it looked. If the process was stopped
// between its readings, it repeats them.
func (c clock) deadline(remaining func() time.Duration) (at, until instant) {
	for {
		before := c.now()
		left := remaining()
		if after := c.now(); after.sub(before) < settleTime {
			return after, after.add(left)
		}
	}
}
