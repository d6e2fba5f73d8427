package coordinator

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A node that does not say how many partitions it has is taken to have as many as this one, and what a
// program of another kind says costs no more memory than what a coordinator may say.
func TestTakersCO23(t *testing.T) {
	takers := takersOf([]dynamolease.Member{
		{Node: "a", Groups: []string{"orders"}},
		{Node: "b", Groups: []string{"orders"}, Takes: map[string]dynamolease.Takes{"orders": {Partitions: 12, Except: [][2]int{{3, 4}}}}},
		{Node: "c", Groups: []string{"orders", "bills"}, Takes: map[string]dynamolease.Takes{"orders": {Partitions: 9_999_999_999}}},
		{Node: "d", Groups: []string{"orders"}, Drained: true},
	}, map[string]int{"orders": 8})
	list := takers["orders"]
	if len(list) != 3 || list[0].Partitions != 8 || list[1].Partitions != 12 || list[1].May(3) || list[2].Partitions != maxPartitions {
		t.Errorf("%+v", list)
	}
	if bills := takers["bills"]; len(bills) != 1 || bills[0].Name != "c" {
		t.Errorf("%+v", bills)
	}
}

// A group whose owners are not read in time delays the others for a moment only, and they go by what was
// known of it before.
func TestCensusAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCensus(Config{Interval: time.Minute, Groups: []Group{{Name: "a", Partitions: 4}, {Name: "b", Partitions: 4}}})
		s.observe([]dynamolease.Member{{Node: "m", Groups: []string{"a", "b"}}, {Node: "n", Groups: []string{"a", "b"}}})
		await := func() time.Duration {
			began := time.Now()
			s.await(context.Background())
			return time.Since(began)
		}
		if got := await(); got != 0 {
			t.Errorf("waited %v for nothing", got)
		}
		s.look(2)
		s.count("a", map[string]int{"m": 4})
		if got := await(); got != maxAwaited {
			t.Errorf("waited %v for a slow group", got)
		}
		if m, n := s.share("a", "m"), s.share("a", "n"); m != 2 || n != 2 {
			t.Errorf("shares %d and %d", m, n)
		}
		time.AfterFunc(time.Millisecond, func() { s.count("b", nil) })
		if got := await(); got != time.Millisecond {
			t.Errorf("waited %v for one that could not be read", got)
		}
		if got := s.share("a", "stranger"); got != 0 {
			t.Errorf("a share of %d for a node that takes no part", got)
		}
	})
}
