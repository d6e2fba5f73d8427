package history

import (
	"sync"
	"time"
)

// A clock is the elapsed-time clock of one node. It drifts within the bound that the library
// allows. It may stand still while the machine is suspended. Its wall clock steps.
type clock struct {
	mu        sync.Mutex
	origin    time.Time
	ppm       int64 // by how much it is too fast
	gained    time.Duration
	suspended time.Duration
	asleep    time.Time // when the present suspend began; zero outside of one
}

// elapsed implements [dynamolease.Options].Elapsed. It returns the reading of the monotonic clock,
// and that of the clock that shows the most.
func (c *clock) elapsed() (atLeast, atMost time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, suspended := time.Now(), c.suspended
	if !c.asleep.IsZero() {
		suspended += now.Sub(c.asleep)
	}
	passed := now.Sub(c.origin)
	passed += time.Duration(int64(passed) / 1_000_000 * c.ppm)
	return passed - suspended, passed + c.gained
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
