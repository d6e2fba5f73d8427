package storeclock

import (
	"time"

	"github.com/dynamolease/dynamolease/internal/elapsed"
)

// Bounds are what is known of the store's time at one moment:
// Earliest <= the store's time <= Latest. Both are in UTC and carry no
// monotonic reading.
type Bounds struct {
	Earliest time.Time // for judging whether a time that the store holds has passed
	Latest   time.Time // for writing a time that must not come too soon

	// At is the moment of the bounds on this node's elapsed-time clock.
	At elapsed.Reading

	// Node is true if the bounds are those of this node's wall clock, because
	// that was chosen.
	Node bool

	drift drift
}

// LatestAt carries Latest on to the later reading r. If an answer that had
// arrived by r bears a Date beyond it, then the store's time was already past
// Latest when the bounds were made. A reading before b.At counts as b.At.
func (b Bounds) LatestAt(r elapsed.Reading) time.Time {
	return b.Latest.Add(b.drift.atMost(r.Max - b.At.Max))
}

// Deadline returns until when, as a Reading.Max of this node's clock, the writer
// of the expiry b.Latest+ttl may rely on it. It is ttl after b.At, less what
// this node's clock may lose on the store's in that time.
func (b Bounds) Deadline(ttl time.Duration) time.Duration {
	return b.At.Max + b.drift.atLeast(ttl)
}
