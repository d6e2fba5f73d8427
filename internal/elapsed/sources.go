package elapsed

import "time"

// sources are the clocks of a node. Their origins do not matter.
type sources struct {
	// boot is nil where there is no clock that counts suspended time.
	boot func() time.Duration
	// raw is nil where there is no clock that is never slewed.
	raw func() time.Duration
	// wallAndMono reads the wall clock first, with as little as possible
	// between the two.
	wallAndMono func() (wall, mono time.Duration)
	ignoreWall  bool
}

// snapshot is one reading of every clock. A clock that is absent or ignored
// reads as the monotonic one, and so never gains on it.
type snapshot struct {
	mono, boot, wall time.Duration
}

// read takes the monotonic clock last. When the thread loses the processor in
// between, the other clocks seem to be behind, never ahead: one reading sees a
// gain too late instead of every later one seeing a gain that never was.
func (s sources) read() snapshot {
	var boot time.Duration
	if s.boot != nil {
		boot = s.boot()
	}
	wall, mono := s.wallAndMono()

	now := snapshot{mono: mono, boot: boot, wall: wall}
	if s.boot == nil {
		now.boot = mono
	}
	if s.ignoreWall {
		now.wall = mono
	}
	return now
}

// readRaw reads the raw clock before and after the monotonic one. Whatever comes
// in between, neither clock looks as if it had gained on the other: what is
// compared is the earlier raw reading where the raw clock may have gained, and the
// later one where the monotonic clock may have.
func (s sources) readRaw() (before, mono, after time.Duration, ok bool) {
	if s.raw == nil {
		return 0, 0, 0, false
	}
	before = s.raw()
	_, mono = s.wallAndMono()
	return before, mono, s.raw(), true
}

func systemSources(ignoreWall bool) sources {
	origin := time.Now()
	return sources{
		boot: bootClock(), raw: rawClock(),
		wallAndMono: func() (wall, mono time.Duration) {
			now := time.Now() // reads the wall clock, then the monotonic one
			return time.Duration(now.UnixNano()), now.Sub(origin)
		},
		ignoreWall: ignoreWall,
	}
}
