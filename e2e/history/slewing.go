package history

import (
	"math/rand/v2"
	"time"
)

// slewing is what a time daemon does to the monotonic clock of a node: for a while the clock runs
// faster or slower than the raw clock, by up to a tenth.
type slewing struct {
	rate          int64         // the present slew, in millionths
	since         time.Time     // when it began
	behind, ahead time.Duration // what the clock had lost and gained on the raw clock by then
}

// slewed returns what the monotonic clock has lost on the raw clock while it was slower, and what
// it has gained while it was faster.
func (s *slewing) slewed(now time.Time) (behind, ahead time.Duration) {
	if s.rate == 0 {
		return s.behind, s.ahead
	}
	by := time.Duration(int64(now.Sub(s.since)) / 1_000_000 * s.rate)
	return s.behind + max(0, -by), s.ahead + max(0, by)
}

// slew changes the rate at which the monotonic clock runs: often it runs true again.
func (c *clock) slew(dice *rand.Rand) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.behind, c.ahead = c.slewed(now)
	c.slewing.rate, c.since = 0, now
	if by := dice.Int64N(200_000) - 100_000; dice.IntN(3) > 0 {
		c.slewing.rate = by
	}
}
