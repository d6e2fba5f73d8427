package history

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

// A transaction occupies its rows for a moment. A partition key has a limit, which time refills.
func TestTraffic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, other := leaseRowKey(group, 0), leaseRowKey(group, 1)
		roads := newTraffic(climate{contended: true}, rand.New(rand.NewPCG(1, 0)))
		if reason, _ := roads.turnAway([]rowKey{k}, true); reason != "" {
			t.Error("the first transaction is turned away:", reason)
		}
		if reason, at := roads.turnAway([]rowKey{other, k}, true); reason != "TransactionConflict" || at != 1 {
			t.Errorf("a second transaction on the row: %q for item %d", reason, at)
		}
		if reason, _ := roads.turnAway([]rowKey{other}, false); reason != "" {
			t.Error("a write of another row is turned away:", reason)
		}
		time.Sleep(occupied)
		if reason, _ := roads.turnAway([]rowKey{k}, false); reason != "" {
			t.Error("a write after the transaction is turned away:", reason)
		}
		roads = newTraffic(climate{limit: 2}, rand.New(rand.NewPCG(1, 0)))
		for i, want := range []string{"", "", "ThrottlingError"} {
			if reason, _ := roads.turnAway([]rowKey{k}, false); reason != want {
				t.Errorf("write %d: %q, want %q", i, reason, want)
			}
		}
		time.Sleep(time.Second)
		if reason, _ := roads.turnAway([]rowKey{k}, false); reason != "" {
			t.Error("a write a second later is turned away:", reason)
		}
	})
}

// A process that knows nothing of the time meets no machine that is wrong. Later it does.
func TestLinks(t *testing.T) {
	l := &links{machines: machines{wrong: 0}, dice: rand.New(rand.NewPCG(1, 0))}
	met := func() (wrong int) {
		for range learning {
			used := l.take(t.Context())
			if used.machine == 0 {
				wrong++
			}
			l.give(used, true, true)
		}
		return wrong
	}
	if n := met(); n > 0 {
		t.Errorf("%d of the first %d requests went to the wrong machine", n, learning)
	}
	if met()+met()+met() == 0 {
		t.Error("no later request went to the wrong machine")
	}
	if l.forget(); met() > 0 {
		t.Error("a process that forgot the time met the wrong machine")
	}
}
