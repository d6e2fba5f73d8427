package dynamoleaseotel_test

import (
	"context"
	"testing"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// Each outcome of a request is counted as what it was.
func TestRequestOutcomes(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		n := w.node("a")
		n.want("before the first request", n.collect(), map[string]float64{"clock.width": none})
		if err := n.heartbeat(); err != nil {
			w.Fatal(err)
		}
		n.want("the first", n.collect(), map[string]float64{
			"requests UpdateItem done": 1, "capacity.write UpdateItem": 1, "requests UpdateItem refused": 0,
		})

		n.path.Next("UpdateItem", dynamotest.LoseResponse())
		if err := n.heartbeat(); err != nil {
			w.Fatal(err)
		}
		n.want("an answer is lost", n.collect(), map[string]float64{"requests UpdateItem unknown": 1, "requests UpdateItem retried": 0})

		n.path.Next("UpdateItem", dynamotest.Throttle())
		if err := n.heartbeat(); err != nil {
			w.Fatal(err)
		}
		n.want("throttled", n.collect(), map[string]float64{"requests UpdateItem retried": 1, "requests UpdateItem failed": 0})

		n.path.Next("UpdateItem", dynamotest.AccessDenied())
		if err := n.heartbeat(); err == nil {
			w.Fatal("it was allowed")
		}
		before := n.collect()
		n.want("denied", before, map[string]float64{"requests UpdateItem failed": 1})

		if err := w.node("a").heartbeat(); err != nil {
			w.Fatal(err)
		}
		if err := n.heartbeat(); err != nil {
			w.Fatal(err)
		}
		n.want("somebody else wrote first", n.collect(), map[string]float64{
			"requests UpdateItem refused": before.values["requests UpdateItem refused"] + 1,
			"requests UpdateItem done":    before.values["requests UpdateItem done"] + 1,
		})
	})
}

// What is measured is what the store tells of, and a user's own OnRequest is told as well.
func TestRequestsAreThoseToldOf(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		var told []dynamolease.Request
		n := w.node("a", func(o *dynamolease.Options) {
			o.OnRequest = func(_ context.Context, r dynamolease.Request) { told = append(told, r) }
		})
		n.path.Next("TransactWriteItems", dynamotest.HangAfter())
		if _, _, err := n.Acquire(w.Context(), group, 1, "A", ttl); err != nil {
			w.Fatal(err)
		}
		if _, err := n.Renew(w.Context(), group, []int{1}, "A", ttl); err != nil {
			w.Fatal(err)
		}
		if _, err := n.Owners(w.Context(), group); err != nil {
			w.Fatal(err)
		}
		f, want, counts := n.collect(), make(map[string]float64), make(map[string]int64)
		for _, r := range told {
			what := r.Operation + " " + string(r.Outcome)
			want["requests "+what]++
			want["request.duration "+what] += r.Duration.Seconds()
			counts["request.duration "+what]++
			if r.ReadUnits > 0 {
				want["capacity.read "+r.Operation] += r.ReadUnits
			}
			if r.WriteUnits > 0 {
				want["capacity.write "+r.Operation] += r.WriteUnits
			}
		}
		n.want("in the end", f, want)
		for series, count := range counts {
			if f.counts[series] != count {
				w.Errorf("%s was recorded %d times, want %d", series, f.counts[series], count)
			}
		}
		for series, value := range f.values {
			if _, ok := want[series]; !ok && value != 0 && series != "clock.width" {
				w.Errorf("%s is %v, and the store did not tell of it", series, value)
			}
		}
		if want["request.duration TransactWriteItems unknown"] == 0 || want["capacity.read Query"] == 0 {
			w.Errorf("the store has told of %+v", told)
		}
		earliest, latest, _ := n.Now()
		n.want("in the end", f, map[string]float64{"clock.width": latest.Sub(earliest).Seconds()})
	})
}
