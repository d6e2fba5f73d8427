package coordinator

import (
	"slices"
	"testing"
	"time"
)

// A partition is unclaimed when it was free for more than unclaimedRounds rounds without a break.
func TestUnclaimed(t *testing.T) {
	g := &group{waiting: make(map[int]vacancy), refresh: refreshPolicy{unclaimed: unclaimedRounds * time.Second}}
	now := time.Now()
	for i, c := range []struct{ free, want []int }{
		{[]int{1, 2}, nil}, {[]int{1, 2, 3}, nil}, {[]int{1, 3}, nil}, {[]int{1, 2, 3}, []int{1}}, {[]int{2, 3}, []int{3}}, {nil, nil}, {[]int{3}, nil},
	} {
		if got := g.unclaimed(c.free, now.Add(time.Duration(i)*time.Second)); !slices.Equal(got, c.want) {
			t.Errorf("round %d: %v, want %v", i, got, c.want)
		}
	}
}

func TestPinned(t *testing.T) {
	g := &group{pinned: map[int]int64{1: 10, 2: 20}}
	if got := g.unpin(9); len(got) != 2 {
		t.Errorf("before: %v", got)
	}
	if got := g.unpin(10); len(got) != 1 || !got[2] || len(g.pinned) != 1 {
		t.Errorf("in time: %v", got)
	}
}
