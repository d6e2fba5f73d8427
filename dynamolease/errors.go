package dynamolease

import (
	"errors"
	"fmt"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// ErrUnknownOutcome is returned when a write was sent and it is unknown whether it was applied:
// every answer was lost, or the context ended before one came. It never means "lost" or "not
// acquired". Calling again is safe and finds out.
var ErrUnknownOutcome = rowstore.ErrUnknownOutcome

// ErrSessionLost is returned when a session has expired, or its row is gone. It is over for good,
// and so are its leases: stop the work that they cover, and open another.
var ErrSessionLost = errors.New("session lost")

// ErrSessionClosed is returned when a session was closed by its own process.
var ErrSessionClosed = errors.New("session closed")

// ErrEarlierApplied is returned when work was written under the same lease that the lease's own
// checkpoint does not contain: by an earlier call whose outcome was unknown when it ended, or by
// another process of the owner. The work of this call was not written: it may be the earlier work
// again, or rest on an old checkpoint. Go on from what [Store.Resume] returns.
var ErrEarlierApplied = errors.New("earlier work under the lease was applied since its checkpoint was read: go on from Store.Resume")

// An ArgumentError is returned when an argument or option cannot be used. No request was made.
type ArgumentError struct {
	Argument string // the parameter or the field of [Options]
	Problem  string // what is wrong with it, and what is allowed
}

func (e *ArgumentError) Error() string { return e.Argument + " " + e.Problem }

// A SetupError is returned when the table or the permissions are not as the store needs them. It
// wraps the SDK's error where there is one.
type SetupError struct {
	Table   string
	Problem string // what is missing or wrong
	Remedy  string // what to do about it
	Err     error  // the SDK's error, or nil
}

func (e *SetupError) Error() string {
	text := fmt.Sprintf("table %q: %s; %s", e.Table, e.Problem, e.Remedy)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *SetupError) Unwrap() error { return e.Err }
