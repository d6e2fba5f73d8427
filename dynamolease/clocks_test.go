package dynamolease_test

import (
	"time"

	"github.com/dynamolease/dynamolease/internal/testkit"
)

// A clock is the elapsed-time clock of a node, which a test can make wrong.
type clock struct{ *testkit.Clock }

func newClock() clock { return clock{testkit.NewClock()} }

// step makes the wall clock jump. A jump back is not seen: time does not run backwards.
func (c clock) step(d time.Duration) { c.Shift(max(0, d), 0) }

// suspend lets d pass while the monotonic clock stands still and the wall clock (or boot time) goes on.
func (c clock) suspend(d time.Duration) {
	time.Sleep(d)
	c.Shift(d, d)
}

// freeze lets d pass unseen by any clock of the node.
func (c clock) freeze(d time.Duration) {
	time.Sleep(d)
	c.Shift(0, d)
}
