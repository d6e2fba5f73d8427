package storeclock

import (
	"math"
	"time"

	"pgregory.net/rapid"
)

func drawDuration(t *rapid.T, low, high time.Duration, label string) time.Duration {
	return time.Duration(rapid.Int64Range(int64(low), int64(high)).Draw(t, label))
}

func drawPPM(t *rapid.T, label string) float64 {
	return rapid.Float64Range(-DefaultDriftPPM, DefaultDriftPPM).Draw(t, label)
}

func drawNode(t *rapid.T) *node {
	return newWorld(drawDuration(t, 0, time.Second, "phase")).join(drawPPM(t, "ppm"))
}

// traffic is what the answers to a node are like.
type traffic struct {
	latency      time.Duration // longest, either way
	pause        time.Duration // longest, between requests
	stale        time.Duration // oldest header
	ahead, after time.Duration // how far the true machines are from the store's time
	lie          time.Duration // longest lie; negative if it is behind
}

// drawTraffic draws traffic of machines that are apart by up to fleet. The
// extremes, where all of them are wrong in the same way by as much as they may,
// are drawn often, as that is where bounds are put to the test.
func drawTraffic(t *rapid.T, fleet time.Duration) traffic {
	tr := traffic{
		latency: rapid.SampledFrom([]time.Duration{0, 2 * time.Millisecond, 100 * time.Millisecond, 2 * time.Second}).Draw(t, "latency"),
		pause:   rapid.SampledFrom([]time.Duration{time.Second, 3 * time.Second}).Draw(t, "pause"),
		stale:   rapid.SampledFrom([]time.Duration{0, testSlack}).Draw(t, "stale"),
		ahead:   fleet,
		after:   fleet,
		lie:     rapid.SampledFrom([]time.Duration{300 * time.Millisecond, 2 * time.Second, time.Hour}).Draw(t, "lie"),
	}
	switch rapid.IntRange(0, 3).Draw(t, "fleet") {
	case 0:
		tr.ahead = -fleet
	case 1:
		tr.after = -fleet
	}
	if rapid.Bool().Draw(t, "behind") {
		tr.lie = -tr.lie
	}
	return tr
}

// drawTrue draws an answer of an honest machine.
func (tr traffic) drawTrue(t *rapid.T) reply {
	r := reply{
		there: drawDuration(t, 0, tr.latency, "there"),
		back:  drawDuration(t, 0, tr.latency, "back"),
		off:   drawDuration(t, -tr.after, tr.ahead, "off"),
	}
	if tr.stale > 0 {
		r.stale = rapid.SampledFrom([]time.Duration{0, tr.stale, tr.stale / 3}).Draw(t, "age")
	}
	return r
}

// drawLie draws an answer that is wrong by anything up to the longest lie, by
// whole seconds as often as not. In one test all lie in the same direction, at
// worst all by the same.
func (tr traffic) drawLie(t *rapid.T) reply {
	r := tr.drawTrue(t)
	size := time.Duration(float64(tr.lie) * rapid.SampledFrom([]float64{1, 1, 0.5, math.Sqrt(0.1), 0.01}).Draw(t, "size"))
	if rapid.Bool().Draw(t, "in whole seconds") {
		size = size.Round(time.Second)
	}
	r.off = size
	return r
}

// pick draws which of n requests, up to most of them, are answered falsely.
func pick(t *rapid.T, n, most int) map[int]bool {
	picked := map[int]bool{}
	for range rapid.IntRange(0, most).Draw(t, "lies") {
		picked[rapid.IntRange(0, n-1).Draw(t, "lie")] = true
	}
	return picked
}

// ask makes n requests, of which those picked get a false answer.
func (tr traffic) ask(t *rapid.T, on *node, n int, lies map[int]bool) {
	for i := range n {
		on.w.pass(drawDuration(t, 0, tr.pause, "pause"))
		if lies[i] {
			on.ask(tr.drawLie(t))
		} else {
			on.ask(tr.drawTrue(t))
		}
	}
}
