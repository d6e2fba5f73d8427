package dynamolease

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/dynamolease/dynamolease/internal/request"
	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// writesInFlight is the most writes of a segment that are in flight at one time.
const writesInFlight = 32

// A reaping is one run of Reap.
type reaping struct {
	store   *Store
	cfg     ReapConfig
	looking bool // at leases in sessions, too

	writes   atomic.Int64 // counted against the limit
	over     atomic.Bool  // nothing more may begin
	badPlace atomic.Bool  // the store refuses the place where the run began

	mu     sync.Mutex // never held across a request
	report ReapReport
	err    error // the first
}

// note changes the report.
func (r *reaping) note(change func(*ReapReport)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.report)
}

// stop ends the run early. The first reason counts.
func (r *reaping) stop(reason StopReason) {
	r.over.Store(true)
	r.note(func(report *ReapReport) {
		if report.Stopped == "" && r.err == nil {
			report.Stopped = reason
		}
	})
}

// halt ends the run after a request that failed, because the time is over, because the store has no
// capacity to spare, or because of an error.
func (r *reaping) halt(work context.Context, err error) {
	switch {
	case work.Err() != nil:
		r.stop(StoppedByDeadline)
	case request.TurnedAway(err), request.Throttled(err):
		r.stop(StoppedByThrottling)
	default:
		r.over.Store(true)
		r.note(func(report *ReapReport) {
			if r.err == nil {
				r.err, report.Stopped = err, ""
			}
		})
	}
}

// mayWrite counts a write against the limit, and ends the run if none is left.
func (r *reaping) mayWrite(ctx context.Context) bool {
	if r.over.Load() {
		return false
	}
	if ctx.Err() != nil {
		r.stop(StoppedByDeadline)
		return false
	}
	if n := r.writes.Add(1); r.cfg.Limit > 0 && n > int64(r.cfg.Limit) {
		r.stop(StoppedByLimit)
		return false
	}
	return true
}

func (r *reaping) unreadable(err error) {
	const named = 10
	r.note(func(report *ReapReport) {
		report.Unreadable++
		if len(report.Malformed) < named {
			report.Malformed = append(report.Malformed, err)
		}
	})
}

// A reply is the result of a request that was retried until it was answered, or until its time was
// over.
type reply struct {
	err        error // nil if the store did it
	answer     request.Answer
	unanswered bool // some attempt, not necessarily the last one, was not answered
}

// refused reports whether the store refused the request, and returns the row that came along.
func (r reply) refused() (row rowstore.Item, refused bool) { return rowstore.RefusedRow(r.err) }

// send sends a request, and retries it. It counts the attempts that the store throttled.
func (r *reaping) send(ctx context.Context, send rowstore.Send) reply {
	var got reply
	got.err = r.store.rows.Try(ctx, r.store.rows.Budget(0), r.store.rows.Timeout(0), rowstore.Attempts{
		Next:    func(context.Context) (rowstore.Send, error) { return send, nil },
		Done:    func(answer request.Answer) { got.answer = answer },
		Unknown: func() { got.unanswered = true },
		NotDone: func(cause error) {
			if request.TurnedAway(cause) {
				r.note(func(report *ReapReport) { report.Throttled++ })
			}
		},
	})
	return got
}
