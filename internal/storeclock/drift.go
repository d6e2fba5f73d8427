package storeclock

import "time"

// drift is by how many parts per million two clocks may differ in rate.
type drift int

// over returns what two clocks may drift apart in d.
func (p drift) over(d time.Duration) time.Duration {
	return time.Duration(float64(d) * float64(p) / 1e6)
}

// atLeast returns how much time has surely passed on the store's clock while d
// passed here, and atMost how much may have. Neither takes time as running
// backwards.
func (p drift) atLeast(d time.Duration) time.Duration { return max(d, 0) - p.over(max(d, 0)) }
func (p drift) atMost(d time.Duration) time.Duration  { return max(d, 0) + p.over(max(d, 0)) }

// instant is a point in the store's time, as nanoseconds since the Unix epoch.
// Integers keep the vote cheap.
type instant int64

func instantOf(t time.Time) instant           { return instant(t.UnixNano()) }
func (t instant) add(d time.Duration) instant { return t + instant(d) }
func (t instant) time() time.Time             { return time.Unix(0, int64(t)).UTC() }
