package testkit

import (
	"sync"
	"time"
)

// A Clock is the elapsed-time clock of a node, which a test can make wrong. Safe for concurrent use.
type Clock struct {
	mu     sync.Mutex
	origin time.Time
	wall   time.Duration // what the wall clock has gained on the others
	paused time.Duration // how much time passed that the monotonic clock did not see
}

// NewClock is a clock that starts now and is right.
func NewClock() *Clock { return &Clock{origin: time.Now()} }

// Elapsed is what the system's clocks would say: the monotonic one as it is, and the one that saw the most.
func (c *Clock) Elapsed() (atLeast, atMost time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	mono := time.Since(c.origin) - c.paused
	return mono, mono + c.wall
}

// Shift has the wall clock gain on the others, and time be paused that the monotonic clock does not see.
func (c *Clock) Shift(wall, paused time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall += wall
	c.paused += paused
}
