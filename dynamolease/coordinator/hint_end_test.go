package coordinator

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// The end of Run waits for a hint that is due while another one is under way.
func TestHintDueAtTheEndCO30(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			hint := func(context.Context, []dynamolease.Member) {
				calls++
				time.Sleep(100 * time.Millisecond)
			}
			c := &Coordinator{
				cfg: Config{Node: "a", Hint: hint}, groups: []*group{{Group: Group{Name: "orders"}}},
				members: []dynamolease.Member{{Node: "b", Groups: []string{"orders"}}}, hints: make(chan struct{}, 1),
			}
			stop := c.hinting(t.Context())
			poke(c.hints)
			synctest.Wait()
			poke(c.hints)
			if stop(); calls != 2 {
				t.Errorf("%d hints, want 2", calls)
			}
		})
	}
}
