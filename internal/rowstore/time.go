package rowstore

import (
	"time"

	"github.com/dynamolease/dynamolease/internal/elapsed"
	"github.com/dynamolease/dynamolease/internal/request"
	"github.com/dynamolease/dynamolease/internal/storeclock"
)

// A Time is what a call reads the time from: the clocks, and the figures that their rules need.
type Time struct {
	Elapsed elapsed.Stopwatch
	Store   *storeclock.Clock
	Slack   time.Duration // no Date is later than the store's time by more
	Drift   int           // how fast this node's clock may run away, in millionths
}

// A Moment is what is known of the time when an attempt begins: this node's elapsed time, read
// first, and the bounds of the store's time. All decisions and expiries of the attempt come from
// it.
type Moment struct {
	Start elapsed.Reading
	Now   storeclock.Bounds
	time  *Time
	date  time.Time // of the answer that brought the row that is judged; zero if there is none
}

// Moment returns the present moment. It is false while the store's time is not known: a request
// must come first.
func (t *Time) Moment() (Moment, bool) {
	start := t.Elapsed()
	now, ok := t.Store.Now()
	return Moment{Start: start, Now: now, time: t}, ok
}

// At returns a moment with these bounds of the store's time.
func (t *Time) At(now storeclock.Bounds) Moment { return Moment{Now: now, time: t} }

// AsOf returns the moment for judging a row that an answer brought. The row has not expired before
// the store itself said that it was so late: what this node takes for the store's time may be wrong.
func (m Moment) AsOf(answer request.Answer) Moment { return m.asOf(answer.Date) }

func (m Moment) asOf(date time.Time) Moment {
	m.date = date
	return m
}

// Earliest returns the store's time at the least, in milliseconds, rounded down. A row with this
// expiry has surely expired.
func (m Moment) Earliest() int64 {
	earliest := m.Now.Earliest
	if !m.Now.Node && !m.date.IsZero() {
		earliest = earlier(earliest, m.date.Add(time.Second)) // a Date leaves the second open
	}
	return earliest.UnixMilli()
}

// Latest returns the store's time at the most, in milliseconds, rounded up.
func (m Moment) Latest() int64 { return ceilMilli(m.Now.Latest) }

// LatestAsEarliest returns the moment for a caller that must be sure that a row has not expired
// yet, rather than that it has.
func (m Moment) LatestAsEarliest() Moment {
	m.Now.Earliest = m.Now.Latest
	return m.asOf(time.Time{})
}

// Expiry returns the expiry of a row that lasts at least ttl, also if the holder's clock runs slow.
func (m Moment) Expiry(ttl time.Duration) int64 {
	drift := time.Duration(int64(ttl) / 1_000_000 * int64(m.time.Drift))
	return ceilMilli(m.Now.Latest.Add(ttl + drift))
}

// Until returns how long the holder of a row with this expiry may count on it, as a reading of the
// elapsed clock's Max: until ttl after the attempt began.
//
// If the answer's own Date shows that the store's time was past the writer's assumption, what the
// row has left by that Date counts instead. Then the samples were wrong, or the process was paused
// and no clock of the node shows it. (With a node's own wall clock there is nothing to compare.)
func (m Moment) Until(ttl time.Duration, exp int64, answer request.Answer) time.Duration {
	until := m.Start.Max + ttl
	assumed := m.Now.LatestAt(answer.Received).Add(-m.time.Slack) // whatever a front end caches
	if !m.Now.Node && !answer.Date.IsZero() && answer.Date.After(assumed) {
		latest := answer.Date.Add(time.Second + m.time.Slack)
		until = min(until, answer.Sent.Max+time.UnixMilli(exp).Sub(latest))
	}
	return until
}

func (m Moment) known() bool { return m.time != nil }

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func ceilMilli(t time.Time) int64 {
	return t.Add(time.Millisecond - time.Nanosecond).UnixMilli()
}
