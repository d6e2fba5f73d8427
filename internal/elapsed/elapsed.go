// Package elapsed tells how much time has passed on this node, as a lower and
// an upper bound.
//
// A lease is safe only if two different mistakes are never made, and no single
// clock of a node avoids both:
//
//   - A holder must not think that less time has passed than did, or it works
//     on after its lease expired. Go's monotonic clock stops while a machine is
//     suspended, and when a hypervisor pauses the machine even CLOCK_BOOTTIME
//     may stop; the wall clock, set right afterwards, is then the only one that
//     shows the gap. A holder therefore counts with [Reading.Max], which follows
//     whichever clock of the node saw the most time pass.
//   - A judge of another's lease must not think that more time has passed than
//     did, or a wall clock that is set forward by an hour makes every lease of
//     the others look expired. A judge counts with [Reading.Min], which is the
//     monotonic clock and nothing else.
//
// The monotonic clock itself may run fast or slow for a while: a time service
// slews it, by up to 500 ppm as a rule, and by a twelfth with chrony's defaults.
// Where the kernel has a raw clock, which nobody slews (CLOCK_MONOTONIC_RAW), Min
// follows the slower of the two and Max the faster.
//
// What this cannot do: a pause that no clock of the node shows (the machine was
// stopped and its wall clock not set yet) is not in Max either. Writes that are
// fenced by an epoch are the remedy for that. Nor is the rate of the machine's
// oscillator corrected here; users of a Reading allow for drift themselves.
package elapsed

import (
	"sync"
	"time"
)

// stepTolerance is how far the wall clock may fall behind the monotonic clock
// before it counts as having been set back. It lies above the granularity and
// the scheduling noise of a reading. A pause that is seen by the wall clock
// only, and follows upon a smaller step back, is underestimated by that step.
const stepTolerance = 10 * time.Millisecond

// Doubt is by how much, over any time, a clock that is slewed back and forth may have Min run fast, and
// Max run slow: clocks that fall behind each other by less than the tolerance are not told from noise,
// and the raw clock is not read at each reading. Whoever compares the Min of one node with the Max of
// another allows for it twice.
const Doubt = stepTolerance + time.Millisecond

// rawInterval is how seldom the raw clock is read: that is a system call.
const rawInterval = 10 * time.Millisecond

// Reading is the time that has passed since the origin of the [Stopwatch] that it
// was read from. Only readings of one Stopwatch can be compared.
type Reading struct {
	Min time.Duration // at least this much; does not run fast
	Max time.Duration // at most this much; does not run slow
}

// Stopwatch reads how much time has passed. Neither bound ever decreases, and Max
// advances by no less than Min does. A Stopwatch is safe for concurrent use.
type Stopwatch func() Reading

// System returns the clock of this node, with the present moment as its origin.
//
// With ignoreWall the wall clock has no part in Max. That is for nodes whose
// wall clock is set back and forth for other reasons; on them a pause by the
// hypervisor may go unnoticed.
func System(ignoreWall bool) Stopwatch {
	return newTracker(systemSources(ignoreWall)).read
}

// tracker derives a Reading from the sources. It accumulates in jumped what the
// other clocks have gained on the monotonic one, and in hurried what the
// monotonic clock has gained on the raw one.
type tracker struct {
	src sources

	mu      sync.Mutex
	jumped  time.Duration
	hurried time.Duration
	least   time.Duration // the latest Min
	boot    reference
	wall    reference
	raw     reference
	mono    reference     // against the raw clock
	sampled time.Duration // the monotonic clock when the raw one was read
}

func newTracker(src sources) *tracker {
	now := src.read()
	t := &tracker{src: src}
	t.boot.offset = now.boot - now.mono
	t.wall.offset = now.wall - now.mono
	t.least = now.mono
	if before, mono, after, ok := src.readRaw(); ok {
		t.raw.offset, t.mono.offset, t.sampled = before-mono, mono-after, mono
	}
	return t
}

// read takes its snapshot inside the mutex: snapshots that were evaluated in
// another order than they were taken in would look like clocks that step.
func (t *tracker) read() Reading {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.src.read()

	// A suspend shows on both clocks at once and counts once; so does what one
	// of them alone shows.
	t.jumped += max(
		t.boot.gain(now.boot-now.mono),
		t.wall.gain(now.wall-now.mono),
	)
	t.compare(now.mono)
	t.least = max(t.least, now.mono-t.hurried) // the last look may have come late by its interval
	return Reading{Min: t.least, Max: now.mono + t.jumped}
}

// compare looks by how much the monotonic clock is slewed. Between two looks it
// gains or loses less than a millisecond.
func (t *tracker) compare(mono time.Duration) {
	if mono-t.sampled < rawInterval {
		return
	}
	if before, mono, after, ok := t.src.readRaw(); ok {
		t.jumped += t.raw.gain(before - mono)
		t.hurried += t.mono.gain(mono - after)
		t.sampled = mono
	}
}

// reference is the greatest offset that a clock has had to the monotonic clock
// since it was last set back. A running maximum is the right estimate, as the
// noise of a reading only makes the offset too small (see sources.read): every
// gain is real, however small, and noise does not add up.
type reference struct {
	offset time.Duration
}

// gain returns by how much offset exceeds the reference, and follows it.
func (r *reference) gain(offset time.Duration) time.Duration {
	gained := offset - r.offset
	switch {
	case gained > 0:
		r.offset = offset
		return gained
	case gained < -stepTolerance:
		// The clock was set back. What it gains from here on counts in full,
		// rather than only what it gains beyond its earlier peak.
		r.offset = offset
	}
	return 0
}
