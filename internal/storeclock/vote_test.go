package storeclock

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dynamolease/dynamolease/internal/elapsed"
)

// ends returns the sorted ends of intervals.
func ends(intervals []interval) (lows, highs []instant) {
	for _, i := range intervals {
		lows = append(lows, i.low)
		highs = append(highs, i.high)
	}
	slices.Sort(lows)
	slices.Sort(highs)
	return lows, highs
}

func TestMajority(t *testing.T) {
	for _, tc := range []struct {
		name  string
		in    []interval
		want  interval
		votes int
	}{
		{"one", []interval{{1, 9}}, interval{1, 9}, 1},
		{"nested", []interval{{1, 9}, {3, 5}}, interval{3, 5}, 2},
		{"overlapping", []interval{{1, 5}, {3, 9}, {2, 8}}, interval{3, 5}, 3},
		{"touching", []interval{{1, 5}, {5, 9}}, interval{5, 5}, 2},
		{"equal", []interval{{1, 5}, {1, 5}}, interval{1, 5}, 2},
		{"one is far off", []interval{{1, 5}, {3, 9}, {100, 101}}, interval{3, 5}, 2},
		{"a tie of two", []interval{{1, 2}, {8, 9}}, interval{1, 9}, 1},
		{"a tie of pairs", []interval{{1, 3}, {2, 4}, {10, 12}, {11, 13}}, interval{2, 12}, 2},
		{"a chain", []interval{{1, 4}, {3, 7}, {6, 9}}, interval{3, 7}, 2},
		{"a late majority", []interval{{1, 4}, {3, 5}, {6, 9}, {7, 9}, {8, 9}}, interval{8, 9}, 3},
		{"a point", []interval{{4, 4}, {1, 9}}, interval{4, 4}, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, votes := majority(ends(tc.in))
			if got != tc.want || votes != tc.votes {
				t.Errorf("got %v with %d votes, want %v with %d", got, votes, tc.want, tc.votes)
			}
		})
	}
}

func drawIntervals(t *rapid.T) []interval {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) interval {
		low := rapid.IntRange(0, 40).Draw(t, "low")
		return interval{instant(low), instant(low + rapid.IntRange(0, 20).Draw(t, "width"))}
	}), 1, 12).Draw(t, "intervals")
}

// The sweep finds what counting at every point does.
func TestMajorityIsWhatCountingFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawIntervals(t)
		var want interval
		most := 0
		for p := instant(0); p <= 60; p++ { // the ends are whole numbers
			count := 0
			for _, i := range in {
				if i.low <= p && p <= i.high {
					count++
				}
			}
			switch {
			case count > most:
				want, most = interval{p, p}, count
			case count == most:
				want.high = p
			}
		}
		if got, votes := majority(ends(in)); got != want || votes != most {
			t.Fatalf("got %v with %d votes, want %v with %d", got, votes, want, most)
		}
	})
}

// Whatever votes, the result is an interval that holds all of the winning regions.
func TestElectNeverNarrowsTheVote(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lows, highs := ends(drawIntervals(t))
		region, _ := majority(lows, highs)
		got, _ := elect(lows, highs, time.Duration(rapid.IntRange(0, 10).Draw(t, "margin")))
		if got.low > region.low || got.high < region.high {
			t.Fatalf("elected %v out of %v", got, region)
		}
	})
}

func TestTolerance(t *testing.T) {
	for _, tc := range []struct{ n, dissenters, undetected int }{
		{1, 0, 0}, {2, 1, 1}, {3, 1, 1}, {5, 1, 1}, {6, 2, 2}, {10, 2, 2},
		{11, 3, 2}, {20, 4, 2}, {21, 5, 3}, {64, 13, 7},
	} {
		if got := dissenters(tc.n); got != tc.dissenters {
			t.Errorf("dissenters(%d) = %d, want %d", tc.n, got, tc.dissenters)
		}
		if got := undetected(tc.n); got != tc.undetected {
			t.Errorf("undetected(%d) = %d, want %d", tc.n, got, tc.undetected)
		}
	}
}

func TestElect(t *testing.T) {
	const margin = 10
	for _, tc := range []struct {
		name string
		in   []interval
		want interval
	}{
		{"a sole one is believed", []interval{{100, 200}}, interval{100, 200}},
		{"of two that agree either may be false", []interval{{100, 200}, {150, 250}}, interval{110, 240}},
		{"of two that do not agree either may be false", []interval{{100, 200}, {300, 400}}, interval{100, 400}},
		{"the margin pays", []interval{{100, 200}, {105, 205}, {110, 210}}, interval{110, 200}},
		{"one that is far off costs the margin", []interval{{100, 200}, {105, 205}, {110, 210}, {900, 1000}}, interval{105, 205}},
		{"so does one that is far behind", []interval{{100, 200}, {105, 205}, {110, 210}, {0, 10}}, interval{105, 205}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			lows, highs := ends(tc.in)
			if got, _ := elect(lows, highs, margin); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestCarried(t *testing.T) {
	v := vote{
		interval: interval{low: 100, high: 200},
		at:       elapsed.Reading{Min: time.Hour, Max: 2 * time.Hour},
	}
	now := elapsed.Reading{Min: time.Hour + time.Second, Max: 2*time.Hour + 2*time.Second}
	want := interval{
		low:  v.low.add(time.Second - 200*time.Microsecond),
		high: v.high.add(2*time.Second + 400*time.Microsecond),
	}
	if got := v.carried(now, DefaultDriftPPM); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
