package storeclock

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/internal/elapsed"
)

// askFor makes a request that is answered with header, in no time.
func (n *node) askFor(header http.Header) {
	n.clock.Observe(n.reading, n.reading, header, "")
}

func TestNothingIsKnownBeforeTwoResponsesAgree(t *testing.T) {
	for name, lies := range map[string][]time.Duration{
		"none": {0, 0}, "first ahead": {3 * time.Hour, 0, 0}, "first behind": {-3 * time.Hour, 0, 0}, "second ahead": {0, 3 * time.Hour, 0},
	} {
		t.Run(name, func(t *testing.T) {
			n := newWorld(0).join(0)
			for _, off := range lies {
				if b, ok := n.clock.Now(); ok {
					t.Fatalf("got %v", b)
				}
				n.ask(reply{there: time.Millisecond, back: time.Millisecond, off: off})
			}
			n.contains(t, 0)
		})
	}
}

// twice asks for the same twice.
func (n *node) twice(r reply) {
	n.ask(r)
	n.ask(r)
}

func TestBoundsOfOneMoment(t *testing.T) {
	w := newWorld(0)
	n := w.join(0)
	sent := n.reading
	w.pass(300 * time.Millisecond)
	date := w.now
	w.pass(200 * time.Millisecond)
	for range 2 {
		n.clock.Observe(sent, n.reading, dated(date), "")
	}
	w.pass(1000 * time.Second)

	b := n.mustNow(t)
	// The answer's second began at the epoch, and 1000s drift by 200ms.
	if want := epoch.Add(1000*time.Second - 200*time.Millisecond - testMargin); !near(b.Earliest, want) {
		t.Errorf("Earliest = %v, want %v", b.Earliest, want)
	}
	if want := epoch.Add(1001*time.Second + 500*time.Millisecond + 200*time.Millisecond + testSlack + testMargin); !near(b.Latest, want) {
		t.Errorf("Latest = %v, want %v", b.Latest, want)
	}
	if b.At != n.reading || b.Node {
		t.Errorf("At = %v, Node = %v", b.At, b.Node)
	}
}

// near allows for the drift in half a second.
func near(a, b time.Time) bool { return a.Sub(b).Abs() <= 200*time.Microsecond }

func TestSuspendAndStepMakeTheTimeUnknown(t *testing.T) {
	for name, disturb := range map[string]func(*node){
		"suspended":         func(n *node) { n.suspend(time.Minute) },
		"wall clock steps":  func(n *node) { n.stepWall(3 * time.Hour) },
		"suspended briefly": func(n *node) { n.suspend(100 * time.Millisecond) },
	} {
		t.Run(name, func(t *testing.T) {
			n := newWorld(0).join(0)
			n.twice(reply{})
			n.contains(t, 0)
			disturb(n)
			if b, ok := n.clock.Now(); ok {
				t.Fatalf("still known: %v", b)
			}
			n.twice(reply{})
			n.contains(t, 0)
			if b := n.mustNow(t); b.Latest.Sub(n.w.now) > time.Second+testSlack+testMargin {
				t.Errorf("Latest is %v ahead", b.Latest.Sub(n.w.now))
			}
		})
	}
}

func TestUnusableExchangesAreIgnored(t *testing.T) {
	n := newWorld(0).join(0)
	sent := n.reading
	n.w.pass(time.Second)
	n.clock.Observe(n.reading, sent, dated(n.w.now), "") // received before it was sent
	n.suspend(time.Minute)
	n.clock.Observe(sent, n.reading, dated(n.w.now), "") // suspended while it waited
	if b, ok := n.clock.Now(); ok {
		t.Fatalf("got %v", b)
	}
}

// A request that was under way during a suspend is not used, though others came
// back before it.
func TestLateAnswerFromBeforeASuspend(t *testing.T) {
	n := newWorld(0).join(0)
	sent := n.reading
	n.suspend(time.Minute)
	n.twice(reply{})
	before := n.mustNow(t)
	n.clock.Observe(sent, n.reading, dated(n.w.now), "")
	if after := n.mustNow(t); after != before {
		t.Errorf("bounds changed from %+v to %+v", before, after)
	}
}

// When only some samples are forgotten, the others vote anew.
func TestVotesAnewAfterForgetting(t *testing.T) {
	n := newWorld(0).join(0)
	n.ask(reply{off: -time.Hour})
	n.suspend(clockTolerance * 3 / 4)
	n.twice(reply{})
	n.mustNow(t)
	n.suspend(clockTolerance * 3 / 4) // too much only for the first sample
	if b := n.mustNow(t); n.w.now.Sub(b.Earliest) > time.Minute {
		t.Errorf("Earliest is %v behind", n.w.now.Sub(b.Earliest))
	}
}

// LS49: however many responses come without a usable Date, this node's wall clock does not count, neither at the start nor
// after the time was known.
func TestNeverTheWallClock(t *testing.T) {
	undated := []http.Header{{}, {"Date": {"garbage"}}, {"Date": {epoch.Format(http.TimeFormat)}, "Age": {"1"}}}
	n := newWorld(0).join(0)
	unknown := func() {
		t.Helper()
		for range 30 {
			for _, h := range undated {
				n.askFor(h)
				if b, ok := n.clock.Now(); ok {
					t.Fatalf("known without a date: %+v", b)
				}
			}
		}
	}
	unknown()
	n.twice(reply{})
	n.contains(t, 0)
	n.suspend(time.Minute)
	unknown()
	n.twice(reply{})
	n.contains(t, 0)
}

func TestNodeClockNeverLooksAtDates(t *testing.T) {
	wall := epoch.Add(42 * time.Millisecond)
	c := New(Config{
		Elapsed: func() elapsed.Reading { return at(7) },
		Node:    true,
		MaxSkew: time.Second,
		Wall:    func() time.Time { return wall },
	})
	check := func() {
		t.Helper()
		b, ok := c.Now()
		if !ok || !b.Node || b.At != at(7) || b.Earliest != wall.Add(-time.Second) || b.Latest != wall.Add(time.Second) {
			t.Errorf("got %+v, %v", b, ok)
		}
	}
	check()
	c.Observe(at(1), at(2), dated(epoch.Add(time.Hour)), "")
	c.Observe(at(3), at(4), http.Header{}, "")
	check()
}

func TestBoundsCarriedOn(t *testing.T) {
	b := Bounds{Latest: epoch, At: elapsed.Reading{Min: time.Second, Max: 10 * time.Second}, drift: DefaultDriftPPM}
	for _, tc := range []struct{ max, want time.Duration }{
		{10 * time.Second, 0},
		{11 * time.Second, time.Second + 200*time.Microsecond},
		{9 * time.Second, 0}, // earlier than b: not carried back
	} {
		if got := b.LatestAt(elapsed.Reading{Max: tc.max}).Sub(epoch); got != tc.want {
			t.Errorf("LatestAt(%v) is %v later, want %v", tc.max, got, tc.want)
		}
	}
	if got, want := b.Deadline(time.Minute), 70*time.Second-12*time.Millisecond; got != want {
		t.Errorf("Deadline = %v, want %v", got, want)
	}
}

func TestConcurrentUse(t *testing.T) {
	c := New(Config{
		Elapsed: elapsed.System(false), Slack: testSlack, Margin: testMargin,
		DriftPPM: DefaultDriftPPM,
	})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 300 {
				sent := c.cfg.Elapsed()
				header := dated(time.Now())
				if i%10 == 0 {
					header = http.Header{}
				}
				c.Observe(sent, c.cfg.Elapsed(), header, "")
				if b, ok := c.Now(); ok && !b.Earliest.Before(b.Latest) {
					t.Errorf("Earliest %v is not before Latest %v", b.Earliest, b.Latest)
				}
			}
		})
	}
	wg.Wait()
	n := c.cfg.Elapsed()
	c.Observe(n, n, dated(time.Now()), "")
	if b, ok := c.Now(); !ok || time.Now().Before(b.Earliest) || time.Now().After(b.Latest) {
		t.Errorf("%+v, %v does not hold this machine's own time", b, ok)
	}
}
