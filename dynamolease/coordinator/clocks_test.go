package coordinator_test

import (
	"sync"
	"time"
)

// A clock is the elapsed-time clock of a node, which a test can make wrong.
type clock struct {
	mu     *sync.Mutex
	origin time.Time
	wall   *time.Duration // what the wall clock has gained on the others
	paused *time.Duration // how much time passed that the monotonic clock did not see
}

func newClock() clock {
	return clock{new(sync.Mutex), time.Now(), new(time.Duration), new(time.Duration)}
}

// elapsed is what the system's clocks would say: the monotonic one as it is, and the one that saw the most.
func (c clock) elapsed() (atLeast, atMost time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	mono := time.Since(c.origin) - *c.paused
	return mono, mono + *c.wall
}

// wake is the end of a suspension of d: the boot time and the wall clock went on, the monotonic clock did not, and no
// timer has run yet.
func (c clock) wake(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*c.wall += d
}
