package history

import (
	"sync"
	"time"
)

// A clock is the elapsed-time clock of one node. It drifts within the bound that the library
// allows. It may stand still while the machine is suspended. Its wall clock steps. Its monotonic
// clock and its wall clock may be slewed by far more than they drift, while its raw clock is not.
type clock struct {
	mu        sync.Mutex
	origin    time.Time
	ppm       int64 // by how much it is too fast
	gained    time.Duration
	suspended time.Duration
	asleep    time.Time // when the present suspend began; zero outside of one
	slewing
}

// elapsed implements [dynamolease.Options].Elapsed. It returns the reading of the monotonic clock
// or, where that is slewed forward, of the raw one; and that of the clock that shows the most.
func (c *clock) elapsed() (atLeast, atMost time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, suspended := time.Now(), c.suspended
	if !c.asleep.IsZero() {
		suspended += now.Sub(c.asleep)
	}
	passed := now.Sub(c.origin)
	passed += time.Duration(int64(passed) / 1_000_000 * c.ppm)
	behind, ahead := c.slewed(now)
	return passed - suspended - behind, passed + c.gained + ahead
}

// step sets the wall clock forward. The library does not see steps back, since time does not run
// backwards.
func (c *clock) step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gained += d
}

// suspend lets d pass. The monotonic clock stands still, and the other clocks go on.
func (c *clock) suspend(d time.Duration) {
	c.mu.Lock()
	if c.asleep.IsZero() {
		c.asleep = time.Now()
	}
	c.mu.Unlock()
	time.Sleep(d)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.asleep.IsZero() {
		c.suspended += time.Since(c.asleep)
		c.asleep = time.Time{}
	}
}
