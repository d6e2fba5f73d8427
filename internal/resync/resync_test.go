package resync

import (
	"testing"
	"time"
)

func TestRounds(t *testing.T) {
	for _, test := range []struct {
		partitions int
		interval   time.Duration
		from, to   int
	}{
		{0, time.Second, 10, 30},
		{1, 10 * time.Second, 10, 30},
		{10, 10 * time.Second, 10, 30},
		{100, 10 * time.Second, 100, 300},
		{1000, 10 * time.Second / 3, 1000, 2160},
		{100_000, 10 * time.Second, 360, 720},
		{1 << 40, time.Hour, 15, 30}, // not in two hours, but rounds as long as that are rare themselves
	} {
		if from, to := Rounds(test.partitions, test.interval); from != test.from || to != test.to {
			t.Errorf("%d partitions, rounds of %v: %d to %d, want %d to %d", test.partitions, test.interval, from, to, test.from, test.to)
		}
	}
}
