package fleet

import (
	"math/rand/v2"
	"sync"
	"time"
)

const maxDriftPPM = 150 // the library allows for 200

// A clock is the elapsed-time clock of one node. It drifts, and it stands still while the node is
// paused. Its wall clock is wrong and steps.
type clock struct {
	mu     sync.Mutex
	origin time.Time
	ppm    int64
	wall   time.Duration // how far the wall clock is ahead
	lost   time.Duration // the sum of all pauses
	asleep time.Time     // when the pause began; zero outside of one
}

func newClock(r *rand.Rand) *clock {
	return &clock{origin: time.Now(), ppm: r.Int64N(2*maxDriftPPM+1) - maxDriftPPM, wall: time.Duration(r.IntN(12)) * time.Hour}
}

// elapsed implements [dynamolease.Options.Elapsed]. It returns the reading of the monotonic clock,
// and that of the clock that saw the most time pass.
func (c *clock) elapsed() (atLeast, atMost time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if !c.asleep.IsZero() {
		now = c.asleep
	}
	passed := now.Sub(c.origin)
	passed += time.Duration(int64(passed) / 1_000_000 * c.ppm)
	return passed - c.lost, passed + c.wall
}

// step sets the wall clock forward.
func (c *clock) step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall += d
}

// sleep stops the clock.
func (c *clock) sleep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asleep = time.Now()
}

// wake lets the clock go on. The monotonic clock missed the pause; the wall clock did not.
func (c *clock) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost += time.Since(c.asleep)
	c.asleep = time.Time{}
}
