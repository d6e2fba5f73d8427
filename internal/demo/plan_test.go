package demo

import (
	"slices"
	"testing"
)

func TestPlan(t *testing.T) {
	set := func(from, to int) map[int]bool {
		m := make(map[int]bool)
		for p := from; p < to; p++ {
			m[p] = true
		}
		return m
	}
	list := func(from, to int) []int {
		var l []int
		for p := from; p < to; p++ {
			l = append(l, p)
		}
		return l
	}
	tests := []struct {
		name string
		seen situation
		want plan
	}{
		{"alone, nothing owned", situation{members: 1}, plan{take: list(0, 64)}},
		{"one of four begins at its own place", situation{me: 2, members: 4}, plan{take: list(32, 48)}},
		{"has its share", situation{me: 1, members: 4, mine: list(16, 32)}, plan{}},
		{"has one too many and keeps it", situation{members: 4, mine: list(0, 17)}, plan{}},
		{"has too many", situation{members: 4, mine: list(0, 20)}, plan{giveBack: 3}},
		{"takes what is free only", situation{members: 2, owned: set(0, 30), done: set(30, 60)}, plan{take: list(60, 64)}},
		{"goes round the end", situation{me: 1, members: 2, done: set(2, 62)}, plan{take: []int{62, 63}}},
		{"does not take what it has", situation{me: 0, members: 1, done: set(2, 64), mine: []int{0}}, plan{take: []int{1}}},
		{"all done", situation{members: 3, done: set(0, 64)}, plan{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.seen.plan()
			if got.giveBack != tt.want.giveBack || !slices.Equal(got.take, tt.want.take) {
				t.Errorf("plan = %+v, want %+v", got, tt.want)
			}
		})
	}
}

// The shares of all members together cover every open partition, so that none waits for a worker that is gone.
func TestPlanCoversAll(t *testing.T) {
	for members := 1; members <= Workers; members++ {
		for done := range Partitions {
			seen := situation{members: members, done: make(map[int]bool), owned: make(map[int]bool)}
			for p := range done {
				seen.done[p] = true
			}
			for seen.me = range members {
				for _, p := range seen.plan().take {
					seen.owned[p] = true
				}
			}
			if len(seen.owned)+done != Partitions {
				t.Fatalf("%d members own %d of %d open partitions", members, len(seen.owned), Partitions-done)
			}
		}
	}
}
