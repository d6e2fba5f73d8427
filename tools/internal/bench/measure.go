package bench

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"
)

// A runner makes the calls of one side of an operation, one after the other.
type runner struct {
	operation
	side  side
	calls int
}

// next prepares the next call and returns it.
func (r *runner) next(ctx context.Context) (func() error, error) {
	i := r.calls
	r.calls++
	if r.prepare != nil {
		if err := r.prepare(ctx, r.side, i); err != nil {
			return nil, fmt.Errorf("prepare: %w", err)
		}
	}
	return func() error { return r.call(ctx, r.side, i) }, nil
}

// time makes one call and returns how long it took.
func (r *runner) time(ctx context.Context) (time.Duration, error) {
	call, err := r.next(ctx)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	err = call()
	return time.Since(start), err
}

// A memory is what one call allocates in the whole process, with the SDK and net/http.
type memory struct {
	Allocs float64 `json:"allocs"`
	Bytes  float64 `json:"bytes"`
}

// memory returns the median of a number of calls. They are not the timed ones, because counting
// stops the world.
func (r *runner) memory(ctx context.Context, calls int) (memory, error) {
	var allocs, bytes []float64
	var before, after runtime.MemStats
	for range calls {
		call, err := r.next(ctx)
		if err != nil {
			return memory{}, err
		}
		runtime.ReadMemStats(&before)
		err = call()
		runtime.ReadMemStats(&after)
		if err != nil {
			return memory{}, err
		}
		allocs = append(allocs, float64(after.Mallocs-before.Mallocs))
		bytes = append(bytes, float64(after.TotalAlloc-before.TotalAlloc))
	}
	return memory{Allocs: median(allocs), Bytes: median(bytes)}, nil
}

// turns are the times of the calls of several sides, in microseconds.
type turns struct {
	calls  [][]float64 // of each side
	rounds [][]float64 // of each side, the median call of each round
}

// takeTurns makes the sides take turns: in each round from the first to the last and back, so that
// a drift of the machine's speed cancels out. In a round the median call stands for its side, so
// that a call that the machine held up does not count. If the rounds exceed the limit, there are
// fewer of them.
func takeTurns(ctx context.Context, rounds, block int, limit time.Duration, sides ...*runner) (turns, error) {
	runtime.GC() // collects the garbage of the row before
	t := turns{calls: make([][]float64, len(sides)), rounds: make([][]float64, len(sides))}
	order := upTo(len(sides))
	back := slices.Clone(order)
	slices.Reverse(back)
	order = append(order, back...)
	for start := time.Now(); rounds > 0 && (len(t.rounds[0]) == 0 || time.Since(start) < limit); rounds-- {
		round := make([][]float64, len(sides))
		for _, side := range order {
			for range block {
				took, err := sides[side].time(ctx)
				if err != nil {
					return t, err
				}
				round[side] = append(round[side], float64(took)/float64(time.Microsecond))
			}
		}
		for side, calls := range round {
			t.calls[side] = append(t.calls[side], calls...)
			t.rounds[side] = append(t.rounds[side], median(calls))
		}
	}
	return t, nil
}

// A timing is the time of one side's calls.
type timing struct {
	Median float64 `json:"median_us"`
	Low    float64 `json:"first_quartile_us"`
	High   float64 `json:"third_quartile_us"`
}

func (t turns) timing(side int) timing {
	list := t.calls[side]
	return timing{Median: median(list), Low: quantile(list, 0.25), High: quantile(list, 0.75)}
}

// An estimate is the median of the rounds' ratios with its 95 % confidence interval, or with the
// least and the greatest of fewer than six rounds.
type estimate struct {
	Ratio  float64 `json:"ratio"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Rounds int     `json:"rounds"`
}

// ratio estimates how much longer one side took than another.
func (t turns) ratio(side, other int) estimate {
	var ratios []float64
	for i, took := range t.rounds[side] {
		ratios = append(ratios, took/t.rounds[other][i])
	}
	low, high := confidence(ratios)
	return estimate{median(ratios), low, high, len(ratios)}
}

func median(list []float64) float64 { return quantile(list, 0.5) }

// quantile interpolates between the two nearest values of a list, which must not be empty.
func quantile(list []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	at := q * float64(len(sorted)-1)
	below := int(at)
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (at-float64(below))*(sorted[above]-sorted[below])
}

// confidence returns the 95 % interval of the median of a list, which must not be empty. It follows
// from the order of the values, and so holds for any distribution.
func confidence(list []float64) (low, high float64) {
	sorted := slices.Sorted(slices.Values(list))
	n := float64(len(sorted))
	reach := 1.96 * math.Sqrt(n) / 2
	first := int(n/2 - reach)
	last := int(math.Ceil(n/2 + reach))
	return sorted[max(first-1, 0)], sorted[min(last, len(sorted)-1)]
}
