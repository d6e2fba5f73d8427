package elapsed

import (
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// machine is a node with clocks under the test's control.
type machine struct {
	mono, boot, wall time.Duration
	clock            *tracker
}

func newMachine(change func(*sources)) *machine {
	m := &machine{mono: time.Minute, boot: time.Hour, wall: 1000 * time.Hour}
	src := sources{
		boot:        func() time.Duration { return m.boot },
		wallAndMono: func() (time.Duration, time.Duration) { return m.wall, m.mono },
	}
	if change != nil {
		change(&src)
	}
	m.clock = newTracker(src)
	return m
}

func (m *machine) run(d time.Duration)      { m.mono += d; m.boot += d; m.wall += d }
func (m *machine) suspend(d time.Duration)  { m.boot += d; m.wall += d }
func (m *machine) pause(d time.Duration)    { m.wall += d } // by the hypervisor
func (m *machine) stepWall(d time.Duration) { m.wall += d }

// TestJumps checks by how much Max is ahead of Min after each step of a story.
func TestJumps(t *testing.T) {
	type step struct {
		name   string
		do     func(*machine)
		jumped time.Duration
	}
	run := func(d time.Duration) func(*machine) { return func(m *machine) { m.run(d) } }
	suspend := func(d time.Duration) func(*machine) { return func(m *machine) { m.suspend(d) } }
	pause := func(d time.Duration) func(*machine) { return func(m *machine) { m.pause(d) } }
	stepWall := func(d time.Duration) func(*machine) { return func(m *machine) { m.stepWall(d) } }

	const ms = time.Millisecond
	for _, tc := range []struct {
		name   string
		change func(*sources)
		steps  []step
	}{
		{"running", nil, []step{
			{"a while", run(time.Hour), 0},
		}},
		{"suspended, seen by two clocks and counted once", nil, []step{
			{"suspend", suspend(time.Minute), time.Minute},
			{"run", run(time.Hour), time.Minute},
			{"suspend again", suspend(time.Second), time.Minute + time.Second},
		}},
		{"paused by the hypervisor, seen by the wall clock only", nil, []step{
			{"pause", pause(time.Minute), time.Minute},
			{"run", run(time.Hour), time.Minute},
		}},
		{"the wall clock steps forward, and back", nil, []step{
			{"forward", stepWall(time.Hour), time.Hour},
			{"run", run(time.Second), time.Hour},
			{"back", stepWall(-time.Hour), time.Hour},
			{"run on", run(time.Second), time.Hour},
			{"forward again", stepWall(time.Hour), 2 * time.Hour},
		}},
		{"the wall clock steps back, then a suspend", nil, []step{
			{"back", stepWall(-time.Hour), 0},
			{"suspend", suspend(time.Minute), time.Minute},
		}},
		{"the wall clock steps back, then a pause", nil, []step{
			{"back", stepWall(-time.Hour), 0},
			{"pause", pause(time.Minute), time.Minute},
		}},
		{"the wall clock steps back while suspended", nil, []step{
			{"both", func(m *machine) { m.suspend(time.Minute); m.stepWall(-time.Hour) }, time.Minute},
			{"pause", pause(time.Second), time.Minute + time.Second},
		}},
		{"noise does not add up", nil, []step{
			{"behind", stepWall(-9 * ms), 0},
			{"as before", stepWall(9 * ms), 0},
			{"behind again", stepWall(-9 * ms), 0},
			{"as before again", stepWall(9 * ms), 0},
		}},
		{"short pauses do", nil, []step{
			{"first", pause(ms), ms},
			{"second", pause(ms), 2 * ms},
			{"suspend", suspend(ms), 3 * ms},
		}},
		{"the wall clock falls back slowly", nil, []step{
			{"a little", stepWall(-8 * ms), 0},
			{"more", stepWall(-8 * ms), 0},
			{"pause", pause(time.Second), time.Second},
		}},
		{"without a boot clock", func(s *sources) { s.boot = nil }, []step{
			{"suspend", suspend(time.Minute), time.Minute},
			{"run", run(time.Minute), time.Minute},
		}},
		{"without the wall clock", func(s *sources) { s.ignoreWall = true }, []step{
			{"step", stepWall(time.Hour), 0},
			{"suspend", suspend(time.Minute), time.Minute},
			{"pause", pause(time.Minute), time.Minute},
		}},
		{"without either", func(s *sources) { s.boot, s.ignoreWall = nil, true }, []step{
			{"step", stepWall(time.Hour), 0},
			{"suspend", suspend(time.Minute), 0},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := newMachine(tc.change)
			for _, s := range tc.steps {
				s.do(m)
				got := m.clock.read()
				if got.Min != m.mono {
					t.Errorf("%s: Min = %v, want %v", s.name, got.Min, m.mono)
				}
				if jumped := got.Max - got.Min; jumped != s.jumped {
					t.Errorf("%s: Max is %v ahead of Min, want %v", s.name, jumped, s.jumped)
				}
			}
		})
	}
}

// A wall clock that is slewed, back and forth, for days: Max follows what it
// gains and no more.
func TestSlowSlew(t *testing.T) {
	m := newMachine(nil)
	const day = 24 * 60 * 60
	var gained time.Duration
	for second := range 4 * day {
		m.run(time.Second)
		if second/day%2 == 0 {
			m.wall += 50 * time.Microsecond
			gained += 50 * time.Microsecond
		} else {
			m.wall -= 50 * time.Microsecond
		}
		m.clock.read()
	}
	now := m.clock.read()
	if jumped := now.Max - now.Min; jumped > gained || jumped < gained-2*stepTolerance {
		t.Errorf("Max gained %v on Min, the wall clock %v", jumped, gained)
	}
}

// A monotonic clock that is slewed, by much: Min follows the slower of it and the raw clock, and Max
// the faster, also while they take turns.
func TestSlewedMonotonicClock(t *testing.T) {
	const part = 12 // chrony slews by a twelfth
	for name, slew := range map[string]func(m *machine, second int) (fast, slow bool){
		"fast": func(*machine, int) (bool, bool) { return true, false },
		"slow": func(*machine, int) (bool, bool) { return false, true },
		"fast, then slow": func(_ *machine, second int) (bool, bool) {
			return second < 500, second >= 500
		},
		"not at all": func(*machine, int) (bool, bool) { return false, false },
	} {
		t.Run(name, func(t *testing.T) {
			var raw time.Duration
			m := newMachine(func(s *sources) { s.raw = func() time.Duration { return raw } })
			start := m.clock.read()
			var real, least, most time.Duration
			for second := range 1000 {
				d := time.Second
				switch fast, slow := slew(m, second); {
				case fast:
					d += d / part
				case slow:
					d -= d / part
				}
				m.run(d)
				raw += time.Second
				real += time.Second
				least += min(d, time.Second)
				most += max(d, time.Second)
				now := m.clock.read()
				if gotLeast, gotMost := now.Min-start.Min, now.Max-start.Max; gotLeast > real || gotMost < real {
					t.Fatalf("after %v: between %v and %v", real, gotLeast, gotMost)
				}
			}
			now := m.clock.read()
			if gotLeast, gotMost := now.Min-start.Min, now.Max-start.Max; gotLeast < least-2*stepTolerance || gotMost > most+2*stepTolerance {
				t.Errorf("between %v and %v, want %v and %v", gotLeast, gotMost, least, most)
			}
		})
	}
}

// A monotonic clock that is slewed back and forth by little: over any time Min runs fast, and Max
// slow, by no more than Doubt.
func TestSlewedBackAndForth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var raw time.Duration
		m := newMachine(func(s *sources) { s.raw = func() time.Duration { return raw } })
		fast, slow := time.Duration(0), time.Duration(0) // the most that Min has been ahead of real time, and Max behind, since the worst moment
		last := m.clock.read()
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			real := time.Duration(rapid.Int64Range(0, int64(200*time.Millisecond)).Draw(t, "real"))
			slew := time.Duration(rapid.Int64Range(-int64(real)/12, int64(real)/12).Draw(t, "slew"))
			m.run(real + slew)
			raw += real
			now := m.clock.read()
			fast = max(0, fast+now.Min-last.Min-real)
			slow = max(0, slow-(now.Max-last.Max)+real)
			if fast > Doubt || slow > Doubt {
				t.Fatalf("Min is %v fast, Max %v slow", fast, slow)
			}
			last = now
		}
	})
}

// Neither bound decreases, Min is the monotonic clock, and Max covers the time
// that really passed as long as the wall clock is not set back by less than the
// tolerance.
func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(nil)
		start := m.clock.read()
		last, passed := start, time.Duration(0)
		draw := func(low, high time.Duration) time.Duration {
			return time.Duration(rapid.Int64Range(int64(low), int64(high)).Draw(t, "d"))
		}
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			d := draw(0, time.Minute)
			switch rapid.IntRange(0, 4).Draw(t, "event") {
			case 0:
				m.suspend(d)
			case 1:
				m.pause(d)
			case 2:
				m.stepWall(d)
				d = 0
			case 3:
				m.stepWall(-d - stepTolerance - 1)
				d = 0
			default:
				m.run(d)
			}
			passed += d
			now := m.clock.read()
			if now.Min < last.Min || now.Max-last.Max < now.Min-last.Min {
				t.Fatalf("went from %v to %v", last, now)
			}
			if now.Max-start.Max < passed {
				t.Fatalf("Max says %v passed, but %v did", now.Max-start.Max, passed)
			}
			last = now
		}
	})
}

func TestSystem(t *testing.T) {
	for _, ignoreWall := range []bool{false, true} {
		clock := System(ignoreWall)
		last := clock()
		for range 1000 {
			now := clock()
			if now.Min < last.Min || now.Max < last.Max || now.Max < now.Min {
				t.Fatalf("went from %v to %v", last, now)
			}
			last = now
		}
	}
}

// Snapshots must be evaluated in the order that they are taken in: an earlier one
// that comes late would look like a clock that was set back.
func TestSourcesAreReadInsideTheMutex(t *testing.T) {
	var clock *tracker
	clock = newTracker(sources{wallAndMono: func() (time.Duration, time.Duration) {
		if clock != nil && clock.mu.TryLock() {
			clock.mu.Unlock()
			t.Error("read outside the mutex")
		}
		return 0, 0
	}})
	clock.read()
}

// Goroutines that read at the same time do not make the clocks seem to jump: the
// sources are those of a machine that only runs.
func TestConcurrentReadingsDoNotJump(t *testing.T) {
	origin := time.Now()
	clock := newTracker(sources{
		boot:        func() time.Duration { return time.Since(origin) },
		wallAndMono: func() (time.Duration, time.Duration) { d := time.Since(origin); return d, d },
	})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			var last Reading
			for range 2000 {
				now := clock.read()
				if now.Min < last.Min || now.Max < last.Max {
					t.Errorf("went from %v to %v", last, now)
				}
				last = now
			}
		})
	}
	wg.Wait()
	// The boot clock may have been read late once, at the very first reading.
	if now := clock.read(); now.Max-now.Min > stepTolerance {
		t.Errorf("Max is %v ahead of Min on a machine that only runs", now.Max-now.Min)
	}
}

func BenchmarkSystem(b *testing.B) {
	clock := System(false)
	b.ReportAllocs()
	for b.Loop() {
		clock()
	}
}

func BenchmarkSystemParallel(b *testing.B) {
	clock := System(false)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			clock()
		}
	})
}
