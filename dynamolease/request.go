package dynamolease

import (
	"context"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/internal/request"
)

// A Request is one request that a [Store] has made, as [Options.OnRequest] is told.
type Request struct {
	Operation string         // of DynamoDB, such as "UpdateItem"
	Outcome   RequestOutcome // what became of it
	Duration  time.Duration  // until the answer, or until it was given up
	Err       error          // nil for one that is done

	// ReadUnits and WriteUnits are the capacity that the store says the request has consumed. It says nothing of
	// refused requests, which cost a write unit for each KB of the row, and nothing of those without an answer.
	ReadUnits, WriteUnits float64
}

// A RequestOutcome is what became of a request.
type RequestOutcome string

const (
	RequestDone    RequestOutcome = "done"    // the store did what was asked
	RequestRefused RequestOutcome = "refused" // a condition did not hold: somebody else wrote first
	RequestRetried RequestOutcome = "retried" // the store did nothing, throttled or in conflict, and it is tried again
	RequestUnknown RequestOutcome = "unknown" // no answer: it may have been done
	RequestFailed  RequestOutcome = "failed"  // the store did nothing, and trying again does not help
)

// reporter turns what the sender reports into what the user is told.
func reporter(tell func(context.Context, Request)) func(context.Context, request.Report) {
	return func(ctx context.Context, r request.Report) {
		told := Request{Operation: r.Operation, Outcome: requestOutcome(r.Outcome), Duration: r.Took, Err: r.Err}
		if slices.Contains([]string{"GetItem", "Query", "Scan"}, r.Operation) {
			told.ReadUnits = r.Units
		} else {
			told.WriteUnits = r.Units
		}
		tell(ctx, told)
	}
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
