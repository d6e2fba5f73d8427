package storeclock

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// falseSamples counts the samples in use that do not hold the store's time.
func (n *node) falseSamples() (count, of int) {
	truth := instantOf(n.w.now)
	for _, s := range n.clock.history.samples {
		low, high := s.lowAt(n.reading, n.clock.drift), s.highAt(n.reading, n.clock.drift)
		if truth < low || truth > high.add(testSlack) {
			count++
		}
	}
	return count, len(n.clock.history.samples)
}

// trusted reports whether no more samples are false than are tolerated even if
// none stands out.
func (n *node) trusted() bool {
	count, of := n.falseSamples()
	return of > 1 && count <= mayFit(of) || count == 0
}

// drawHistory makes requests of a node, with lies among the answers or with
// machines that are apart by up to the margin.
func drawHistory(t *rapid.T, on *node, label string) {
	n := rapid.IntRange(2, 40).Draw(t, label)
	if rapid.Bool().Draw(t, "lies in it") {
		drawTraffic(t, 0).ask(t, on, n, pick(t, n, mayFit(n)))
	} else {
		drawTraffic(t, testMargin).ask(t, on, n, nil)
	}
}

// disturb lets something happen to the world for as long as d.
func disturb(t *rapid.T, w *world, d time.Duration) {
	n := w.nodes[rapid.IntRange(0, len(w.nodes)-1).Draw(t, "whose")]
	switch rapid.IntRange(0, 4).Draw(t, "event") {
	case 0:
		n.suspend(d)
	case 1:
		n.stepWall(d)
	case 2:
		w.pass(d)
	default:
		n.ask(reply{there: d / 2, back: d / 2})
	}
}

// What leases are built on: one node writes an expiry, counting from Latest, and
// relies on it until its Deadline. Another judges by Earliest. Whatever happens
// to either, the judge never finds the lease expired before the holder does.
func TestNoLeaseLooksExpiredToOthersFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(drawDuration(t, 0, time.Second, "phase"))
		holder := w.join(drawPPM(t, "holder's ppm"))
		judge := w.join(drawPPM(t, "judge's ppm"))
		drawHistory(t, judge, "judge's requests")
		drawHistory(t, holder, "holder's requests")

		written, ok := holder.clock.Now()
		if !ok || !holder.trusted() {
			t.Skip("the holder knows too little")
		}
		ttl := drawDuration(t, time.Second, time.Hour, "ttl")
		expiry, deadline := written.Latest.Add(ttl), written.Deadline(ttl)

		left := func() time.Duration { return deadline - holder.reading.Max }
		judgeNow := func() {
			b, ok := judge.clock.Now()
			if ok && judge.trusted() && left() > 0 && !b.Earliest.Before(expiry) {
				t.Fatalf("expired for the judge %v before the holder's deadline", left())
			}
		}
		for range rapid.IntRange(0, 20).Draw(t, "events") {
			disturb(t, w, drawDuration(t, 0, ttl/4, "for"))
			judgeNow()
		}
		if left() > 0 {
			w.pass(time.Duration(math.Floor(float64(left()-1) / holder.rate)))
			judgeNow()
		}
	})
}

// Without the correction for drift that Deadline makes, the margins cover it for
// ttls of minutes, as long as the store's machines leave some of them.
func TestPlainDeadlineIsCoveredByTheMargins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(drawDuration(t, 0, time.Second, "phase"))
		holder := w.join(drawPPM(t, "holder's ppm"))
		judge := w.join(drawPPM(t, "judge's ppm"))
		drawTraffic(t, testMargin/2).ask(t, judge, rapid.IntRange(1, 30).Draw(t, "judge's requests"), nil)
		drawTraffic(t, testMargin/2).ask(t, holder, rapid.IntRange(1, 30).Draw(t, "holder's requests"), nil)

		written, ok := holder.clock.Now()
		_, judges := judge.clock.Now()
		if !ok || !judges {
			t.Skip("too little is known")
		}
		ttl := drawDuration(t, time.Second, 5*time.Minute, "ttl")
		w.pass(time.Duration(float64(ttl-1) / holder.rate))
		if !judge.mustNow(t).Earliest.Before(written.Latest.Add(ttl)) {
			t.Fatalf("expired for the judge within the holder's ttl")
		}
	})
}

// A lease that is over is seen to be over soon: no later than the slack and a
// second and a half after its ttl, by nodes that make requests now and then.
func TestExpiryIsSeenSoon(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(drawDuration(t, 0, time.Second, "phase"))
		holder := w.join(drawPPM(t, "holder's ppm"))
		judge := w.join(drawPPM(t, "judge's ppm"))
		talk := func(n *node) {
			n.ask(reply{there: drawDuration(t, 0, 20*time.Millisecond, "there"), back: time.Millisecond})
		}
		for range 20 {
			w.pass(130 * time.Millisecond)
			talk(holder)
			talk(judge)
		}

		ttl := drawDuration(t, time.Second, 2*time.Minute, "ttl")
		expiry := holder.mustNow(t).Latest.Add(ttl)
		soon := w.now.Add(ttl + testSlack + 1500*time.Millisecond)
		for soon.Sub(w.now) > time.Second {
			w.pass(drawDuration(t, 0, soon.Sub(w.now), "pause") / 2)
			talk(judge)
		}
		w.pass(soon.Sub(w.now))
		if judge.mustNow(t).Earliest.Before(expiry) {
			t.Fatalf("not yet expired for the judge, %v too late", expiry.Sub(judge.mustNow(t).Earliest))
		}
	})
}
