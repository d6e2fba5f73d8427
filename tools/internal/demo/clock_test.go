package demo

import (
	"testing"
	"testing/synctest"
	"time"
)

// What was read before a pause does not count after it.
func TestDeadlineIsReadAgainAfterAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClock()
		reads, lasts := 0, time.Now().Add(testTTL)
		at, until := c.deadline(func() time.Duration {
			left := max(0, time.Until(lasts))
			if reads++; reads == 1 {
				time.Sleep(2 * testTTL) // in virtual time
			}
			return left
		})
		if reads != 2 || at != c.now() || until != at {
			t.Errorf("after %d readings the deadline is %v away at %v", reads, until.sub(at), c.now().sub(at))
		}
	})
}
