package processlease

import (
	"sync/atomic"
	"time"

	"github.com/dynamolease/dynamolease/internal/elapsed"
)

// A validity is whether this boot may believe in its lease: until a deadline that can be moved on while it has not passed,
// and never again once it has, or once the validity was ended. All of that is one pointer, so that of an extension and an
// end at the same time the end wins.
type validity struct {
	clock   *quickClock
	current atomic.Pointer[span]
	over    span // what current points to in the end
}

// A span is the time until a deadline, as each clock counts it.
type span struct {
	deadline time.Duration // Max
	local    time.Time     // for a quickClock with local
}

func newValidity(clock *quickClock, deadline time.Duration) *validity {
	v := &validity{clock: clock}
	v.current.Store(clock.until(deadline))
	return v
}

// valid tells whether the lease is valid still. That it is not is final: the first to see the deadline passed ends the
// validity, and an extension that comes a nanosecond later finds nothing to extend.
func (v *validity) valid() bool { return v.span() != nil }

// span is the one that lasts now, or nil.
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

// extend moves the deadline on, unless the validity is over. By which of the node's clocks it is does not matter, also not if
// Valid has not looked at that one.
func (v *validity) extend(deadline time.Duration) bool {
	next := v.clock.until(deadline)
	for s := v.span(); s != nil; s = v.span() {
		if !v.current.CompareAndSwap(s, next) {
			continue
		}
		if v.clock.clock().Max >= s.deadline {
			v.end() // it took until after the old deadline to get here
		}
		return v.valid()
	}
	return false
}

// end ends the validity for good.
func (v *validity) end() { v.current.Store(&v.over) }

// remaining is how much time is left by all of the node's clocks.
func (v *validity) remaining() time.Duration {
	s := v.current.Load()
	if s == &v.over {
		return 0
	}
	return max(0, s.deadline-v.clock.clock().Max)
}

// A quickClock tells without a lock whether a deadline has passed.
type quickClock struct {
	clock elapsed.Clock
	local bool // read the wall clock and the monotonic one instead
}

func newQuickClock(clock elapsed.Clock, o *Options) *quickClock {
	return &quickClock{clock: clock, local: o.Elapsed == nil && !o.IgnoreWallClock}
}

// until translates a deadline on the clock's Max.
func (q *quickClock) until(deadline time.Duration) *span {
	s := &span{deadline: deadline}
	now := time.Now() // before the clock, so that what comes between shortens the span
	s.local = now.Add(deadline - q.clock().Max)
	return s
}

// before tells whether the deadline has not passed yet.
//
// The wall clock and the monotonic one are Max, save for boot time, which costs a system call. It would show no more
// unless the wall clock were set back in the very span in which the machine was suspended, and the manager's own
// goroutines, which count with Max, see that too when they wake.
func (q *quickClock) before(s *span) bool {
	if !q.local {
		return q.clock().Max < s.deadline
	}
	now := time.Now()
	return now.Before(s.local) && now.UnixNano() < s.local.UnixNano()
}
