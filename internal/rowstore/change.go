package rowstore

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/internal/request"
)

// ErrUnknownOutcome is the error of a write that was sent, when it is unknown whether it
// was applied.
var ErrUnknownOutcome = errors.New("outcome unknown: the write may have been applied")

// A Change is a compare-and-set of one row, described by what to do with the row as it is seen.
type Change[R Row[R]] struct {
	Key    Key
	Cache  *Cache[R] // of the rows of this kind; nil for none
	Decode func(Item) (R, error)
	By     any // for whom it is; nil for a change that builds on no pending write

	// Propose decides what to write on top of the row that was seen. It is called again with the row
	// as it became when somebody else wrote first, and with a new moment for each attempt. It must
	// decide from these alone.
	Propose func(seen Known[R], at Moment) (Proposal[R], error)

	// Consult looks up what Propose needs besides the row; nil for nothing. The moment lies before the
	// look at the row.
	Consult func(ctx context.Context, seen R, at Moment, budget *request.Budget, timeout time.Duration) error

	// Start reports whether a row from the cache will do to begin with; nil to read the row in any
	// case. A decision not to write must come from a read, since nothing checks it afterwards.
	Start func(Known[R], Moment) bool

	// Seen is the row where the caller has looked it up; nil to have it recalled or read.
	Seen *Known[R]

	// Returns has the change return the row as its write left it, with what others keep in it.
	// Otherwise that is as it was seen before.
	Returns bool

	// Counts reports whether a pending write of an earlier call is a success of this one, too; nil
	// for none.
	Counts func(Pending[R]) bool

	// Enter waits until an attempt may begin; see [Attempts]. Nil for nothing to wait for.
	Enter func(ctx context.Context) (leave func(), err error)

	// Sending takes in an attempt before it is sent, and TurnedAway one that was not done; nil for
	// nothing to note.
	Sending, TurnedAway func(Pending[R])

	// Hidden reports of a row, left by somebody else, whether an attempt may have been applied before
	// that; nil where the row would show it.
	Hidden func(R) bool

	// Together takes in a refusal whose reason is not the row, but what had to be written together
	// with it. An error ends the change; nil has the row read again.
	Together func(refusal error) error

	TTL    time.Duration   // bounds each request, and the whole; zero for operations without one
	Budget *request.Budget // of the call that this is a part of; nil for one of its own
}

// AnyRow is the Hidden of a change that others undo: the row does not show what was there before.
func AnyRow[R any](R) bool { return true }

// Always is the Start of a change that writes whatever the row is.
func Always[R Row[R]](Known[R], Moment) bool { return true }

// A Proposal says what to write. The zero value writes nothing: the row that was seen is the
// answer.
type Proposal[R Row[R]] struct {
	Write bool
	Next  R

	Condition *Condition                // of the write; nil for Known.RevIn
	Together  []types.TransactWriteItem // takes effect with the row, in the same transaction, or not at all
}

// Write proposes to make the row next.
func Write[R Row[R]](next R) Proposal[R] { return Proposal[R]{Write: true, Next: next} }

// A Changed is a change of which the outcome is known.
type Changed[R Row[R]] struct {
	Known   Known[R]    // the row as it is now
	Applied *Pending[R] // the attempt that was applied; nil when Propose had nothing to write
	Answer  request.Answer
	Doubted []string // the revs of attempts that were never answered
}

// RefusedRow returns the row that a failed condition brought along, free of charge; empty where
// there is none. It did not come where another condition of the transaction failed.
func RefusedRow(err error) (row Item, came bool) {
	var refused *types.ConditionalCheckFailedException
	if errors.As(err, &refused) {
		return refused.Item, true
	}
	var cancelled *types.TransactionCanceledException
	if errors.As(err, &cancelled) && len(cancelled.CancellationReasons) > 0 {
		first := cancelled.CancellationReasons[0]
		return first.Item, request.ClassifyReason(first) == request.Refused
	}
	return nil, false
}
