package bench

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// The least moves are those of an even share that needs the fewest.
func TestFewestMoves(t *testing.T) {
	for _, c := range []struct {
		counts     []int
		partitions int
		want       int
	}{
		{[]int{0}, 10, 10},
		{[]int{10}, 10, 0},
		{[]int{10, 0}, 10, 5},
		{[]int{4, 3, 3}, 10, 0},
		{[]int{3, 3, 4, 0}, 10, 2},
		{[]int{5, 5, 0}, 10, 3},
		{[]int{5, 0}, 10, 5},        // of which five are nobody's
		{[]int{3, 3, 1}, 10, 3},     // the same three go to one node
		{[]int{7, 1, 1}, 10, 1 + 3}, // one is nobody's
	} {
		l := newLedger(c.partitions)
		for i, n := range c.counts {
			l.counts[nodeName(i)] = n
			l.working += n
		}
		if got := l.fewest(); got != c.want {
			t.Errorf("%v of %d: %d, want %d", c.counts, c.partitions, got, c.want)
		}
	}
}

func TestLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedger(2)
		check := func(what string, want tally, twice int) {
			t.Helper()
			got, gotTwice := l.result()
			if !slices.Equal(got.seconds, want.seconds) || !slices.Equal(got.idle, want.idle) || got.moves != want.moves || got.least != want.least || gotTwice != twice {
				t.Errorf("%s: %+v and %d twice, want %+v and %d", what, got, gotTwice, want, twice)
			}
		}
		l.begin()
		l.step([]string{"a"})
		time.Sleep(time.Second)
		l.start("a", 0)
		time.Sleep(time.Second)
		l.start("a", 1)
		if err := l.await(context.Background()); err != nil {
			t.Error(err)
		}
		check("start", tally{[]float64{1, 2}, []float64{1, 2}, 2, 2}, 0)

		l.begin()
		l.step([]string{"a", "b"})
		time.Sleep(time.Second)
		l.end("a", 1)
		time.Sleep(time.Second)
		l.start("b", 1)
		check("join", tally{[]float64{2}, []float64{1}, 1, 1}, 0)

		l.begin()
		l.crash("a")
		l.step([]string{"b"})
		l.end("a", 0)
		time.Sleep(3 * time.Second)
		l.start("b", 0)
		if err := l.await(context.Background()); err != nil {
			t.Error(err)
		}
		check("crash", tally{[]float64{3}, []float64{3}, 1, 1}, 0)
		l.end("b", 0)
		l.start("b", 0)
		check("again", tally{[]float64{3}, []float64{3, 0}, 2, 1}, 1)

		l.start("c", 1)
		if err := l.await(context.Background()); err == nil {
			t.Error("two nodes work one partition, which is no error")
		}
	})
}
