package dynamolease

import (
	"time"

	"github.com/dynamolease/dynamolease/internal/elapsed"
	"github.com/dynamolease/dynamolease/internal/request"
	"github.com/dynamolease/dynamolease/internal/storeclock"
)

// A moment is what is known of the time when an attempt begins: the node's own clock, read first, and the bounds of
// the store's. All decisions and expiries of the attempt come from it.
type moment struct {
	start elapsed.Reading
	now   storeclock.Bounds
	clock *timing
}

// A timing is a store's clocks and the figures that the rules of time need.
type timing struct {
	node  nodeClock
	store *storeclock.Clock
	slack time.Duration
	drift int // millionths
}

// moment is false while the store's time is not known: a request must come first.
func (t *timing) moment() (moment, bool) {
	start := t.node.now()
	now, ok := t.store.Now()
	return moment{start, now, t}, ok
}

// earliest is the store's time at the least, in milliseconds, rounded down: a lease with this expiry is not live.
func (m moment) earliest() int64 { return m.now.Earliest.UnixMilli() }

// latest is the store's time at the most, in milliseconds, rounded up.
func (m moment) latest() int64 { return ceilMilli(m.now.Latest) }

// latestAsEarliest is the moment for who must be sure that a lease has not expired yet, rather than that it has.
func (m moment) latestAsEarliest() moment {
	m.now.Earliest = m.now.Latest
	return m
}

// expiry is what a row says that is to last for at least ttl, also when the holder's clock runs slow.
func (m moment) expiry(ttl time.Duration) int64 {
	drift := time.Duration(int64(ttl) / 1_000_000 * int64(m.clock.drift))
	return ceilMilli(m.now.Latest.Add(ttl + drift))
}

// tenure is how long the holder of a row with this expiry may count on it: until ttl after the attempt began. When the
// answer's own Date shows that the store's time was past what the writer assumed (its samples were wrong, or it was
// paused where no clock of the node could see), what the row has left by that Date counts instead. (Not where nodes go
// by their own wall clocks: those are not compared with the store's.)
func (m moment) tenure(ttl time.Duration, exp int64, answer request.Answer) tenure {
	until := m.start.Max + ttl
	assumed := m.now.LatestAt(answer.Received).Add(-m.clock.slack) // no Date is later, whatever a front end caches
	if !m.now.Node && !answer.Date.IsZero() && answer.Date.After(assumed) {
		latest := answer.Date.Add(time.Second + m.clock.slack)
		until = min(until, answer.Sent.Max+time.UnixMilli(exp).Sub(latest))
	}
	return tenure{clock: &m.clock.node, until: until}
}

func ceilMilli(t time.Time) int64 {
	return t.Add(time.Millisecond - time.Nanosecond).UnixMilli()
}
