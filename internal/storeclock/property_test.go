package storeclock

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Only true answers, over hours, with everything that may happen to a node: the
// bounds always hold.
func TestBoundsHoldOnAnyNode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		node := drawNode(t)
		tr := drawTraffic(t, testMargin)
		// What is too short to be noticed matters as much as what is not.
		long := rapid.SampledFrom([]time.Duration{clockTolerance, 10 * time.Second, 3 * time.Hour}).Draw(t, "long")
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			switch rapid.IntRange(0, 19).Draw(t, "event") {
			case 0:
				node.suspend(drawDuration(t, 0, long, "suspended"))
			case 1:
				node.stepWall(drawDuration(t, 0, long, "step"))
			case 2:
				node.w.pass(drawDuration(t, 0, 20*time.Minute, "idle"))
			default:
				tr.ask(t, node, 1, nil)
			}
			if _, ok := node.clock.Now(); ok {
				node.contains(t, 0)
			}
		}
	})
}

// oneIn is one in k of n, rounded up.
func oneIn(k, n int) int { return (n + k - 1) / k }

// mayFit is how many of n answers may be false though they fit all the others.
func mayFit(n int) int { return max(oneIn(10, n), min(2, oneIn(5, n))) }

// One in ten, rounded up, may lie by anything, however small or large; and two,
// where two are no more than one in five, rounded up.
func TestBoundsHoldWithAnyLieInOneOfTen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "n")
		node := drawNode(t)
		drawTraffic(t, 0).ask(t, node, n, pick(t, n, mayFit(n)))
		node.holds(t, 0)
	})
}

// One in five, rounded up, may lie by anything, as long as they do not all fit
// all of the others by chance. If they do, then a bound that does not hold is
// off by less than a second, two margins and a round trip.
func TestBoundsHoldWithLiesThatStandOutInOneOfFive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "n")
		node := drawNode(t)
		tr := drawTraffic(t, testMargin)
		tr.ask(t, node, n, pick(t, n, oneIn(5, n)))
		if node.unanimous() {
			node.holds(t, time.Second+2*testMargin+2*tr.latency)
		} else {
			node.holds(t, 0)
		}
	})
}

func (n *node) unanimous() bool {
	h := &n.clock.history
	h.vote(n.reading, n.clock.drift, testMargin)
	_, votes := majority(h.lows, h.highs)
	return votes == len(h.lows)
}

// A lie that is long enough always stands out.
func TestLongLiesStandOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "n")
		node := drawNode(t)
		tr := drawTraffic(t, testMargin)
		tr.ask(t, node, n-1, nil)

		// Two seconds, two round trips, slack, and the margins of either.
		long := 2*time.Second + 4*tr.latency + tr.stale + 3*testMargin
		long += drift(DefaultDriftPPM).over(4 * 40 * 10 * time.Second)
		lie := tr.drawTrue(t)
		lie.off = rapid.SampledFrom([]time.Duration{long, -long}).Draw(t, "lie")
		node.ask(lie)
		if node.unanimous() {
			t.Fatalf("a lie by %v agrees with all others", lie.off)
		}
	})
}

// Twenty true answers spread evenly over three seconds, in 2 ms each: the bounds
// hold and are hardly wider than the slack and the margins.
func TestWidthAfterTwentyResponses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		node := drawNode(t)
		for range 20 {
			there := drawDuration(t, 0, 2*time.Millisecond, "there")
			node.ask(reply{there: there, back: 2*time.Millisecond - there})
			node.w.pass(148 * time.Millisecond)
		}
		node.contains(t, 0)
		b := node.mustNow(t)
		if width := b.Latest.Sub(b.Earliest) - 2*testMargin; width >= testSlack+100*time.Millisecond {
			t.Fatalf("width is slack + %v, want slack + less than 100ms", width-testSlack)
		}
	})
}
