package processlease

import (
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/internal/elapsed"
)

// The counter is set forward, as when a machine goes on elsewhere after hibernation: the window gets no longer by that.
func TestCounterSetForward(t *testing.T) {
	if !ticksTrusted() {
		t.Skip("no counter that can be trusted")
	}
	system := elapsed.System(true)
	c := newCounter(system)
	spin := func() {
		for began := system().Max; system().Max-began < minBaseline; {
		}
	}
	spin()
	usual := c.until(system().Max + time.Hour)
	spin()
	c.count -= usual.length // an hour more of ticks than of time
	if w := c.until(system().Max + time.Hour); w.length > usual.length+usual.length/100 {
		t.Errorf("a window of %d ticks, the one before had %d", w.length, usual.length)
	}
	for range 2 {
		spin()
		if w := c.until(system().Max + time.Hour); w.length == 0 || w.length > usual.length+usual.length/100 {
			t.Errorf("later, a window of %d ticks, the one before had %d", w.length, usual.length)
		}
	}
}
