package dynamolease_test

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

// step makes the wall clock jump. A jump back is not seen: time does not run backwards.
func (c clock) step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*c.wall += max(0, d)
}

// suspend lets d pass while the monotonic clock stands still and the wall clock (or boot time) goes on.
func (c clock) suspend(d time.Duration) {
	time.Sleep(d)
	c.mu.Lock()
	defer c.mu.Unlock()
	*c.paused += d
	*c.wall += d
}

// freeze lets d pass unseen by any clock of the node.
func (c clock) freeze(d time.Duration) {
	time.Sleep(d)
	c.mu.Lock()
	defer c.mu.Unlock()
	*c.paused += d
}
