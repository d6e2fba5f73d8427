package dynamolease_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// A run that the machine is suspended in, at whatever moment, skips no row and deletes none that is live.
func TestReapSuspended(t *testing.T) {
	for reading := range int64(60) {
		t.Run(fmt.Sprint("at reading ", reading), func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				w.dead(3)
				w.node().acquire(7, "B")
				var readings atomic.Int64
				var sleeper *node
				sleeper = w.coldNode(func(o *dynamolease.Options) {
					o.Elapsed = func() (atLeast, atMost time.Duration) {
						if readings.Add(1) == reading+1 {
							sleeper.Step(3 * time.Second)
						}
						return sleeper.Elapsed()
					}
				})
				if report := sleeper.reap(dynamolease.ReapConfig{}); report.Due != 3 || report.Deleted != 3 || report.Stopped != "" {
					w.Errorf("%+v", report)
				}
				if left := w.keys(); len(left) != 1 {
					w.Errorf("left are %v", left)
				}
			})
		})
	}
}

// Rows that look like a fence and are none do not hold up a run with a limit for ever.
func TestReapLimitPassesOthers(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		for i := range 5 {
			w.putRow("P#else", fmt.Sprint("F#", i), attributes{"ttl": seconds(-time.Hour), "rev": text("r"), "node": text("else")})
		}
		w.dead(3)
		for range 3 {
			report := w.node().reap(dynamolease.ReapConfig{Limit: 1})
			if report.Deleted != 1 || report.Raced != 0 || report.Unreadable != 5 {
				w.Errorf("%+v", report)
			}
		}
		if left := w.keys(); len(left) != 5 {
			w.Errorf("left are %v", left)
		}
	})
}

// A run that fails because its context was cancelled was not stopped by a deadline.
func TestReapCancelledReport(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		w.dead(3)
		n := w.node()
		ctx, cancel := context.WithCancel(w.Context())
		n.Path.Next("Scan", dynamotest.Around(cancel, nil))
		if report, err := n.Reap(ctx, dynamolease.ReapConfig{}); !errors.Is(err, context.Canceled) || report.Stopped != "" {
			w.Errorf("%+v, %v", report, err)
		}
	})
}

// Whatever is done to each request, the figures add up, and a live row stays.
func TestReapFigures(t *testing.T) {
	for _, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				w.dead(20)
				w.node().acquire(100, "B")
				n := w.node()
				for range 7 {
					n.Path.Next("DeleteItem", fault.fault)
				}
				ctx, cancel := context.WithTimeout(w.Context(), 30*time.Second)
				defer cancel()
				report, err := n.Reap(ctx, dynamolease.ReapConfig{Segments: 3})
				if ctx.Err() != nil {
					w.Error("the deadline has passed")
				}
				seen := report.Deleted + report.Raced + report.Kept + report.Unreadable + report.Unanswered
				if seen > report.Due || err == nil && report.Stopped == "" && seen != report.Due {
					w.Errorf("%+v, %v", report, err)
				}
				if again := w.node().reap(dynamolease.ReapConfig{Segments: 3}); again.Stopped != "" {
					w.Errorf("again: %+v", again)
				}
				w.node().reap(dynamolease.ReapConfig{})
				if left := w.keys(); len(left) != 1 {
					w.Errorf("left are %v", left)
				}
			})
		})
	}
}
