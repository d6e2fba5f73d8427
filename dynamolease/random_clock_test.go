package dynamolease_test

import (
	"sync"
	"time"
)

// A driftingClock is a node's own, which a test can set forward or stop.
type driftingClock struct {
	mu        sync.Mutex
	origin    time.Time
	rate      int64 // millionths that it is too fast
	gained    time.Duration
	suspended time.Duration
	asleep    time.Time // since when, if it is
}

func (c *driftingClock) elapsed() (atLeast, atMost time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, suspended := time.Now(), c.suspended
	if !c.asleep.IsZero() {
		suspended += now.Sub(c.asleep)
	}
	passed := now.Sub(c.origin)
	drift := time.Duration(int64(passed) / 1_000_000 * c.rate)
	return passed + drift - suspended, passed + drift + c.gained
}

func (c *driftingClock) step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gained += d
}

// suspend lets d pass while the monotonic clock stands still, and the others go on.
func (c *driftingClock) suspend(d time.Duration) {
	c.mu.Lock()
	c.asleep = time.Now()
	c.mu.Unlock()
	time.Sleep(d)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.suspended += d
	c.asleep = time.Time{}
}
