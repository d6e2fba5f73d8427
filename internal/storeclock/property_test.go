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
		w := newWorld(drawDuration(t, 0, time.Second, "phase"))
		n := w.join(drawPPM(t, "ppm"), nil)
		steps := rapid.IntRange(1, 200).Draw(t, "steps")
		for range steps {
			switch rapid.IntRange(0, 9).Draw(t, "event") {
			case 0:
				n.suspend(drawDuration(t, 0, 10*time.Second, "suspended"))
			case 1:
				n.stepWall(drawDuration(t, 0, 3*time.Hour, "step"))
			case 2:
				w.pass(drawDuration(t, 0, 20*time.Minute, "idle"))
			default:
				w.pass(drawDuration(t, 0, time.Second, "pause"))
				n.ask(drawTrue(t, testMargin))
			}
			if _, ok := n.clock.Now(); ok {
				n.contains(t, 0)
			}
		}
	})
}

// askSome makes n requests, of which those that lies picks out get lie's answer.
func askSome(t *rapid.T, on *node, n int, fleet time.Duration, lies map[int]bool, lie func(*rapid.T) reply) {
	for i := range n {
		on.w.pass(drawDuration(t, 0, 2*time.Second, "pause"))
		r := drawTrue(t, fleet)
		if lies[i] {
			r = lie(t)
		}
		on.ask(r)
	}
}

// pick draws which of n requests, up to most of them, are answered falsely.
func pick(t *rapid.T, n, most int) map[int]bool {
	picked := map[int]bool{}
	for range rapid.IntRange(0, most).Draw(t, "lies") {
		picked[rapid.IntRange(0, n-1).Draw(t, "lie")] = true
	}
	return picked
}

func drawNode(t *rapid.T) *node {
	return newWorld(drawDuration(t, 0, time.Second, "phase")).join(drawPPM(t, "ppm"), nil)
}

// One in ten, rounded up, may lie by anything, however small or large.
func TestBoundsHoldWithAnyLieInOneOfTen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "n")
		node := drawNode(t)
		askSome(t, node, n, 0, pick(t, n, undetected(n)), drawLie)
		node.contains(t, 0)
	})
}

// One in five, rounded up, may lie by anything if one of them lies by enough to
// stand out against the others.
func TestBoundsHoldWithAnyLieInOneOfFiveOnceOneStandsOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "n")
		node := drawNode(t)
		lies := pick(t, n, dissenters(n))
		first := true
		askSome(t, node, n, testMargin, lies, func(t *rapid.T) reply {
			r := drawLie(t)
			if first {
				first = false
				r.off += outstanding(r)
			}
			return r
		})
		// With one lie and no other, one in five is one in five.
		node.contains(t, 0)
	})
}

// outstanding is how much to add to a lie for it never to agree with the truth.
func outstanding(r reply) time.Duration {
	// Two seconds, slack, two margins, drift, and the longest round trip of both.
	const enough = 2*time.Second + testSlack + 2*testMargin + 8*time.Second + 100*time.Millisecond
	if r.off < 0 {
		return -enough
	}
	return enough
}

// Whole seconds, or what lies in between, told by one in five, rounded up: a
// bound that does not hold is off by less than a second, the margin and a round
// trip; and that only while every one of the samples agrees.
func TestBoundsNearlyHoldWithAnyLieInOneOfFive(t *testing.T) {
	const roundTrip = 4 * time.Second
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "n")
		node := drawNode(t)
		askSome(t, node, n, 0, pick(t, n, dissenters(n)), drawLie)
		if node.unanimous() {
			node.contains(t, time.Second+testMargin+roundTrip)
		} else {
			node.contains(t, 0)
		}
	})
}

func (n *node) unanimous() bool {
	h := &n.clock.history
	h.vote(n.reading, n.clock.drift, testMargin)
	_, votes := majority(h.lows, h.highs)
	return votes == len(h.lows)
}

// Twenty true answers spread evenly over three seconds, in 2 ms each: the bounds
// hold, and are hardly wider than the slack and the margins.
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
