package processlease

import (
	"errors"
	"fmt"
)

// Calls return these errors. They also return:
//
//   - *[dynamolease.ArgumentError] if an argument cannot be used
//   - *[dynamolease.SetupError] if the table or a permission is missing
//   - [dynamolease.ErrUnknownOutcome], together with ErrIO or the context's error, if a write may
//     have been applied
//   - the context's error when the context ends
var (
	// ErrIO is returned if DynamoDB could not be reached, did not answer, or rejected a request for
	// the moment, for as long as the call could retry. The rows may be in order: try again. ErrIO
	// wraps the SDK's error.
	ErrIO = errors.New("process lease I/O")

	// ErrInvalid is returned if the table holds something impossible, or something that cannot lead
	// to the result that the caller asked for. A retry does not help: look at the rows. If a
	// *[dynamolease.RowError] is in it, that error names a row that could not be decoded.
	ErrInvalid = errors.New("invalid process lease")

	// ErrMissing is returned if a required record is not in the table: the head of a node, or the
	// evidence of a term. It is an [ErrInvalid]. Either the owner never held the lease, or its
	// evidence has passed its retention, or somebody deleted rows.
	ErrMissing = fmt.Errorf("%w: missing record", ErrInvalid)

	// ErrSuperseded is returned if the owner had the lease and lost it: another boot took over, or
	// the owner resigned. Nothing is wrong with the rows, so it is no [ErrInvalid]. A boot that wants
	// the lease again needs a new owner.
	//
	// [Identity.Acquire] also returns it in one more case: a write of its own was applied, and the
	// answer was lost for so long that another boot took over meanwhile.
	ErrSuperseded = errors.New("process lease superseded: the owner lost it to another boot or has resigned, a boot that wants it again needs a new owner")

	// ErrDeadline is returned if too little time is left: for a full observation, for the budget
	// of a call, or for a new manager. Call again with more time. As the cause of a [Manager]'s
	// end, it says that the lease ran out.
	ErrDeadline = errors.New("process lease deadline")

	// ErrRenewed is returned by [Authority.FenceIncarnation] if the participant renewed its lease
	// during the observation. The participant is alive, and the call took nothing over.
	ErrRenewed = errors.New("process lease renewed meanwhile")

	// ErrStopped is the cause of a [Manager]'s end after Close or Resign, or after its context
	// ended.
	ErrStopped = errors.New("process lease manager stopped")
)

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
}

func missing(record string) error { return fmt.Errorf("%w: %s", ErrMissing, record) }
