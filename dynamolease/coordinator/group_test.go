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

// A partition that was worked in between, as its epoch tells, has not been free for all that time, and no
// time counts from before the sessions changed.
func TestUnclaimedAnew(t *testing.T) {
	const second = time.Second
	g := &group{waiting: make(map[int]vacancy), refresh: refreshPolicy{unclaimed: 3 * second}, sessions: []string{"a"}}
	now := time.Now()
	for _, c := range []struct {
		at       time.Duration
		epoch    int64
		sessions []string
		want     bool
	}{
		{0, 5, []string{"a"}, false},
		{2 * second, 6, []string{"a"}, false},
		{4 * second, 6, []string{"a"}, false},
		{5 * second, 6, []string{"a"}, true},
		{6 * second, 6, []string{"a", "b"}, false},
		{9 * second, 6, []string{"a", "b"}, true},
		{10 * second, 7, []string{"a", "b"}, false},
	} {
		g.observe(c.sessions)
		g.epochs = map[int]int64{1: c.epoch}
		if got := g.unclaimed([]int{1}, now.Add(c.at)); (len(got) == 1) != c.want {
			t.Errorf("after %v, under epoch %d: %v, want %v", c.at, c.epoch, got, c.want)
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
