package processlease

import (
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/internal/elapsed"
)

// A counter translates times into ticks of the processor's counter, which takes a few nanoseconds to read where a clock
// takes fifty or, with boot time, hundreds. It keeps one earlier reading of both to know the rate from.
type counter struct {
	clock elapsed.Clock

	mu    sync.Mutex
	at    time.Duration // Max, read just before count
	count uint64
	rate  float64 // ticks per nanosecond up to then; 0 before it was measured
}

// A window is a stretch of ticks. The zero window is empty.
type window struct{ from, length uint64 }

// contains is false for a counter that was set back, too: the difference is huge then.
func (w window) contains(count uint64) bool { return count-w.from < w.length }

const (
	// windowShare leaves out what the rate of the clock may be off by.
	windowShare = 0.999

	// minBaseline keeps the readings that the rate is worked out from far enough apart for it to be of use.
	minBaseline = 10 * time.Millisecond
)

func newCounter(clock elapsed.Clock) *counter {
	c := &counter{clock: clock}
	c.at, c.count = clock().Max, ticks()
	return c
}

// until returns a window that begins now and surely ends before the deadline, on the clock's Max. It is empty where the
// counter cannot be trusted.
//
// Of the two readings, the earlier one has its ticks after its time and the later one before. Whatever comes between the
// two halves of a reading, a stop of the process included, then makes the rate too low and the window too short. Max
// sees a suspend even if the counter stands still or is set back in it. Should it be set forward in one, the rate that was
// measured before is the lower one, and the lower of the two counts.
func (c *counter) until(deadline time.Duration) window {
	if !ticksTrusted() {
		return window{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	count := ticks()
	now := c.clock().Max
	passed, left := now-c.at, deadline-now
	counted := count - c.count
	if count < c.count {
		counted = 0
	}
	rate := float64(counted) / float64(max(1, passed))
	lower := rate
	if c.rate > 0 {
		lower = min(rate, c.rate)
	}
	if passed >= minBaseline || counted == 0 {
		c.at, c.count, c.rate = now, ticks(), rate
	}
	if passed <= 0 || left <= 0 {
		return window{}
	}
	return window{count, uint64(lower * float64(left) * windowShare)}
}
