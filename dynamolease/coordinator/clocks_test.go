package coordinator_test

import (
	"time"

	"github.com/dynamolease/dynamolease/internal/testkit"
)

// A clock is the elapsed-time clock of a node, which a test can make wrong.
type clock struct{ *testkit.TestClock }

func newClock() clock { return clock{testkit.NewClock()} }

// wake is the end of a suspension of d: the boot time and the wall clock went on, the monotonic
// clock did not, and no timer has run yet.
func (c clock) wake(d time.Duration) { c.Shift(d, 0) }
