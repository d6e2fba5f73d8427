package processlease

import (
	"sync/atomic"
	"time"

	"github.com/dynamolease/dynamolease/internal/elapsed"
)

// A validity answers whether this boot may believe in its lease. It may until a deadline. The
// deadline can move on only while it has not passed. After the deadline, or after end, the boot may
// never believe in the lease again.
//
// All of that is one pointer. So if an extension and an end come at one time, the end wins.
type validity struct {
	clock   *quickClock
	current atomic.Pointer[span]
	over    span // current points to it in the end
}

// A span is the time until a deadline.
type span struct {
	deadline time.Duration // as a Reading.Max of the clock
	local    time.Time     // the deadline on the wall clock and the monotonic clock, by quickClock.local
}

func newValidity(clock *quickClock, deadline time.Duration) *validity {
	v := &validity{clock: clock}
	v.current.Store(clock.until(deadline))
	return v
}

// valid reports whether the lease is still valid. A false is final: the first caller that sees the
// deadline passed ends the validity. An extension that comes a nanosecond later finds nothing to
// extend.
func (v *validity) valid() bool { return v.span() != nil }

// span returns the current span, or nil if the validity is over.
func (v *validity) span() *span {
	for {
		s := v.current.Load()
		switch {
		case s == &v.over:
			return nil
		case v.clock.before(s):
			return s
		case v.current.CompareAndSwap(s, &v.over):
			return nil
		}
	}
}

// extend moves the deadline on and returns true, unless the validity is over. It also ends the
// validity if the old deadline has passed on any clock of the node, even one that valid does not
// read.
func (v *validity) extend(deadline time.Duration) bool {
	next := v.clock.until(deadline)
	for s := v.span(); s != nil; s = v.span() {
		if !v.current.CompareAndSwap(s, next) {
			continue
		}
		if v.clock.clock().Max >= s.deadline {
			v.end() // the old deadline passed before this line
		}
		return v.valid()
	}
	return false
}

// end ends the validity. That is final.
func (v *validity) end() { v.current.Store(&v.over) }

// remaining returns the time that is left, counted with all clocks of the node.
func (v *validity) remaining() time.Duration {
	s := v.current.Load()
	if s == &v.over {
		return 0
	}
	return max(0, s.deadline-v.clock.clock().Max)
}

// A quickClock reports whether a deadline has passed. With local it takes no lock.
type quickClock struct {
	clock elapsed.Stopwatch
	local bool // read the wall clock and the monotonic clock, in place of clock
}

func newQuickClock(clock elapsed.Stopwatch, o *Options) *quickClock {
	return &quickClock{clock: clock, local: o.Elapsed == nil && !o.IgnoreWallClock}
}

// until returns the span that ends at deadline, a Reading.Max of the clock.
func (q *quickClock) until(deadline time.Duration) *span {
	now := time.Now() // before the clock, so that a delay between the two shortens the span
	return &span{deadline: deadline, local: now.Add(deadline - q.clock().Max)}
}

// before reports whether the deadline has not passed yet.
//
// With local, the deadline has passed as soon as either the monotonic clock or the wall clock has
// reached it. So a pause that only the wall clock shows counts at once.
//
// Reading.Max follows boot time as well, but to read boot time costs a system call. It shows more
// than the wall clock only if the wall clock was set back in the very span in which the machine
// was suspended. The manager's own goroutines count with Reading.Max, so they see that too when
// they wake.
func (q *quickClock) before(s *span) bool {
	if !q.local {
		return q.clock().Max < s.deadline
	}
	now := time.Now()
	return now.Before(s.local) && now.UnixNano() < s.local.UnixNano()
}
