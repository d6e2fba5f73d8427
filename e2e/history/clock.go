package history

import (
	"sync"
	"time"
)

// A clock is the elapsed-time clock of one node: it drifts within what the library allows for, its wall clock steps, and it
// may stand still while the machine is suspended.
type clock struct {
	mu        sync.Mutex
	origin    time.Time
	ppm       int64 // how much too fast it is
	gained    time.Duration
	suspended time.Duration
	asleep    time.Time // since when, while it is
}

// elapsed is what [dynamolease.Options].Elapsed asks for: the monotonic clock, and the one that shows the most.
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

// step sets the wall clock forward. A step back is not seen: time does not run backwards.
func (c *clock) step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gained += d
}

// suspend lets d pass while the monotonic clock stands still and the others go on.
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
