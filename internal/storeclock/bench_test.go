package storeclock

import (
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/internal/elapsed"
)

// fullClock returns a clock with as many samples as it ever has.
func fullClock() (*Clock, *node) {
	n := newWorld(0).join(0)
	for range 2 * maxSamples {
		n.ask(reply{there: time.Millisecond, back: time.Millisecond})
		n.w.pass(1700 * time.Millisecond)
	}
	return n.clock, n
}

func TestNowDoesNotAllocate(t *testing.T) {
	c, n := fullClock()
	header := dated(n.w.now)
	c.Now()
	if got := testing.AllocsPerRun(100, func() { c.Now() }); got != 0 {
		t.Errorf("Now: %v allocations", got)
	}
	date, _ := ParseDate(header)
	if got := testing.AllocsPerRun(100, func() {
		c.add(sample{date: instantOf(date), sent: n.reading, received: n.reading})
		c.Now()
	}); got != 0 {
		t.Errorf("Now after a response: %v allocations", got)
	}
}

// Now with nothing new since the last call.
func BenchmarkNow(b *testing.B) {
	c, _ := fullClock()
	b.ReportAllocs()
	for b.Loop() {
		c.Now()
	}
}

// Now after each response: the whole vote.
func BenchmarkNowWithVote(b *testing.B) {
	c, _ := fullClock()
	b.ReportAllocs()
	for b.Loop() {
		c.stale = true
		c.Now()
	}
}

// Now with the clocks of the machine.
func BenchmarkNowWithSystemClocks(b *testing.B) {
	c := New(Config{Elapsed: elapsed.System(false)})
	now := c.cfg.Elapsed()
	c.Observe(now, now, dated(epoch), "")
	b.ReportAllocs()
	for b.Loop() {
		c.Now()
	}
}

func BenchmarkObserve(b *testing.B) {
	c, n := fullClock()
	header := dated(n.w.now)
	b.ReportAllocs()
	for b.Loop() {
		n.w.pass(time.Millisecond)
		c.Observe(n.reading, n.reading, header, "")
	}
}
