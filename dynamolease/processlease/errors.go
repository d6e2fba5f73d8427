package processlease

import (
	"context"
	"errors"
	"fmt"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/internal/request"
)

// Besides these, calls return *[dynamolease.ArgumentError] for what cannot be asked, *[dynamolease.SetupError] where the
// table or a permission is missing, [dynamolease.ErrUnknownOutcome] (together with ErrIO or the context's error) where a
// write may have been applied, and the context's error when it ended.
var (
	// ErrIO is returned when DynamoDB could not be reached, did not answer, or turned a request away for the moment, for
	// as long as the call could try. The data may be in order: try again. It wraps the SDK's error.
	ErrIO = errors.New("process lease I/O")

	// ErrInvalid is returned when what the table holds cannot be, or cannot lead to what was asked. Trying again does
	// not help; look at the rows. With a *[dynamolease.RowError] in it a row could not be decoded, and is named.
	ErrInvalid = errors.New("invalid process lease")

	// ErrMissing is returned when a record is not there that must be: the head of a node, or the evidence of a term. It
	// is an [ErrInvalid]. The owner never held the lease, its evidence has passed its retention, or somebody deleted rows.
	ErrMissing = fmt.Errorf("%w: missing record", ErrInvalid)

	// ErrSuperseded is returned when the owner has had the lease, and has it no more: another boot has taken over, or it has
	// resigned. It is an [ErrInvalid], but nothing is wrong with the rows: a boot that wants the lease again needs a new owner.
	// [Store.Acquire] returns it, too, where a write of its own was applied and its answer was lost for so long that another
	// boot has taken over meanwhile.
	ErrSuperseded = fmt.Errorf("%w: the owner was superseded or has resigned, a boot that wants the lease again needs a new owner", ErrInvalid)

	// ErrDeadline is returned when there is not enough time left: for a full observation, for a call's budget, or for a
	// manager to begin with. Call again with more time. As the cause of a [Manager]'s end it says that its lease ran out.
	ErrDeadline = errors.New("process lease deadline")

	// ErrRenewed is returned by [Authority.FenceIncarnation] when the participant renewed its lease while it was being
	// observed: it is alive, and nothing was taken over.
	ErrRenewed = errors.New("process lease renewed meanwhile")

	// ErrStopped is the cause of a [Manager]'s end when it was told to end, by Close, by Resign or by its context.
	ErrStopped = errors.New("process lease manager stopped")
)

// A HeldError is returned when another boot holds the lease: by [Store.Acquire] with its ErrDeadline, and as the cause
// of a [Manager]'s end. A boot that was superseded must stop its work; it never gets the lease back under its owner.
type HeldError struct {
	Lease Lease // the record of the boot that holds it
}

func (e *HeldError) Error() string { return "process lease held: " + e.Lease.String() }

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
}

func missing(what string) error { return fmt.Errorf("%w: %s", ErrMissing, what) }

// failure returns the error of a request that failed for good, or for longer than the call could try.
// Errors of this package, and that of the context, stay as they are.
func (a *Authority) failure(ctx context.Context, err error) error {
	switch {
	case err == nil, errors.Is(err, ErrInvalid), errors.Is(err, ErrIO), ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return err
	case errors.As(err, new(*dynamolease.SetupError)), errors.As(err, new(*dynamolease.ArgumentError)):
		return err
	case request.NoTable(err):
		return &dynamolease.SetupError{Table: a.rows.Name, Problem: "it does not exist in this account and Region (or is still being created)",
			Remedy: "create it, or check the name, the credentials and the Region", Err: err}
	case request.Denied(err):
		return &dynamolease.SetupError{Table: a.rows.Name, Problem: "these credentials are not allowed to do that",
			Remedy: "grant dynamodb:GetItem and dynamodb:UpdateItem on the table", Err: err}
	}
	return fmt.Errorf("%w: %w", ErrIO, err)
}
