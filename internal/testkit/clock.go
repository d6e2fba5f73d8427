package testkit

import (
	"sync"
	"time"
)

// A Clock is the elapsed-time clock of a node, which a test can make wrong. Safe for concurrent use.
type TestClock struct {
	mu     sync.Mutex
	origin time.Time
	wall   time.Duration // what the wall clock has gained on the others
	paused time.Duration // how much time passed that the monotonic clock did not see
}

// NewClock is a clock that starts now and is right.
func NewClock() *TestClock { return &TestClock{origin: time.Now()} }

// Elapsed is what the system's clocks would say: the monotonic one as it is, and the one that saw the most.
func (c *TestClock) Elapsed() (atLeast, atMost time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	mono := time.Since(c.origin) - c.paused
	return mono, mono + c.wall
}

// Shift has the wall clock gain on the others, and time be paused that the monotonic clock does not see.
func (c *TestClock) Shift(wall, paused time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall += wall
	c.paused += paused
}

// Step makes the wall clock jump ahead, as it is set, or as a machine wakes from a suspend whose timers have not run yet. A
// jump back is not seen: time does not run backwards.
func (c *TestClock) Step(d time.Duration) { c.Shift(max(0, d), 0) }

// Suspend lets d pass while the monotonic clock stands still and the wall clock (or boot time) goes on.
func (c *TestClock) Suspend(d time.Duration) {
	time.Sleep(d)
	c.Shift(d, d)
}

// Freeze lets d pass unseen by any clock of the node.
func (c *TestClock) Freeze(d time.Duration) {
	time.Sleep(d)
	c.Shift(0, d)
}

// Pass lets d pass at once, on every clock.
func (c *TestClock) Pass(d time.Duration) { c.Shift(0, -d) }
