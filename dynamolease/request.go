package dynamolease

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/internal/aside"
	"github.com/dynamolease/dynamolease/internal/request"
)

// A Request describes one request that a [Store] has made. [Options.OnRequest] gets it.
type Request struct {
	Operation string         // of DynamoDB, such as "UpdateItem"
	Outcome   RequestOutcome // of the attempt
	Duration  time.Duration  // until the answer, or until the Store gave up
	Err       error          // nil if the request was done

	// ReadUnits and WriteUnits are the capacity that the request consumed, as DynamoDB reports
	// it. DynamoDB reports nothing for refused requests, although they cost a write unit for each
	// KB of the row. Nothing is known of requests without an answer.
	ReadUnits, WriteUnits float64
}

// A RequestOutcome is the outcome of a request.
type RequestOutcome string

const (
	RequestDone    RequestOutcome = "done"    // DynamoDB did it
	RequestRefused RequestOutcome = "refused" // a condition did not hold: another writer came first
	RequestRetried RequestOutcome = "retried" // throttled or in conflict: not done, the store retries
	RequestUnknown RequestOutcome = "unknown" // no answer: it may have been done
	RequestFailed  RequestOutcome = "failed"  // not done, and a retry does not help
)

// requestsBehind is how many calls of OnRequest wait at the most: what a renewal of as many leases
// makes of them at once.
const requestsBehind = 10_000

// reporter returns a function that translates each report of the sender and passes it to tell, by a
// queue.
func reporter(tell func(context.Context, Request), logger *slog.Logger) (func(context.Context, request.Report), *aside.Queue) {
	queue := aside.New(requestsBehind,
		func(missed int64) {
			logger.Warn("dynamolease: OnRequest is too slow, calls were left out", "calls", missed)
		},
		func(value any) {
			logger.Error("dynamolease: OnRequest panicked", "err", fmt.Errorf("panic: %v", value))
		},
	)
	return func(ctx context.Context, r request.Report) {
		told := Request{Operation: r.Operation, Outcome: requestOutcome(r.Outcome), Duration: r.Took, Err: r.Err}
		if slices.Contains([]string{"GetItem", "Query", "Scan"}, r.Operation) {
			told.ReadUnits = r.Units
		} else {
			told.WriteUnits = r.Units
		}
		ctx = context.WithoutCancel(ctx)
		queue.Add(func() { tell(ctx, told) })
	}, queue
}

func requestOutcome(outcome request.Outcome) RequestOutcome {
	switch outcome {
	case request.Done:
		return RequestDone
	case request.Refused:
		return RequestRefused
	case request.NotDone:
		return RequestRetried
	case request.Unknown:
		return RequestUnknown
	default:
		return RequestFailed
	}
}
