package request

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// An Outcome is what is known of a request after it was sent.
type Outcome int

const (
	// Done: the store said that it did what was asked.
	Done Outcome = iota
	// Refused: a condition did not hold; nothing was written.
	Refused
	// NotDone: nothing was written, and the same may succeed when tried again: throttled, in conflict with a
	// transaction, signed with a wrong clock, or never sent.
	NotDone
	// Unknown: no answer came, or one that does not tell. The write may have been applied, and if not, it may still be.
	Unknown
	// Failed: nothing was written, and trying again will not help.
	Failed
)

// notApplied are the error codes with which DynamoDB turns a request away before doing anything.
func notApplied(code string) bool {
	switch code {
	case "ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded",
		"TransactionConflictException", "LimitExceededException":
		return true
	}
	return false
}

// mayBeApplied are the codes of client faults that leave it open whether the write took effect.
func mayBeApplied(code string) bool {
	switch code {
	case "IdempotentParameterMismatchException", "TransactionInProgressException", "ReplicatedWriteConflictException",
		"RequestTimeout", "RequestTimeoutException":
		return true
	}
	return false
}

// Classify tells the outcome from the error of an operation. sent says whether the request left this process.
func Classify(err error, sent bool) Outcome {
	if err == nil {
		return Done
	}
	var refused *types.ConditionalCheckFailedException
	if errors.As(err, &refused) {
		return Refused
	}
	var cancelled *types.TransactionCanceledException
	if errors.As(err, &cancelled) {
		return classifyReasons(cancelled.CancellationReasons)
	}
	if clockWasWrong(err) {
		return NotDone
	}
	var api smithy.APIError
	if errors.As(err, &api) {
		return classifyAnswer(api.ErrorCode(), err)
	}
	return classifySilence(err, sent)
}

// classifyReasons judges a cancelled transaction, which wrote nothing: refused when a condition did not hold, whatever
// else there was, and worth another try when the store was only busy.
func classifyReasons(reasons []types.CancellationReason) Outcome {
	outcome := NotDone
	for _, reason := range reasons {
		switch ClassifyReason(reason) {
		case Refused:
			return Refused
		case Failed:
			outcome = Failed
		}
	}
	return outcome
}

// ClassifyReason judges what a cancelled transaction says of one of its actions: done when that would have been possible.
func ClassifyReason(reason types.CancellationReason) Outcome {
	switch aws.ToString(reason.Code) {
	case "", "None":
		return Done
	case "ConditionalCheckFailed":
		return Refused
	case "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded":
		return NotDone
	default:
		return Failed
	}
}

// classifyAnswer judges an error that the store itself gave.
func classifyAnswer(code string, err error) Outcome {
	if notApplied(code) {
		return NotDone
	}
	if mayBeApplied(code) {
		return Unknown
	}
	status := 0
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) {
		status = response.HTTPStatusCode()
	}
	switch {
	case status == http.StatusTooManyRequests:
		return NotDone
	case status >= 400 && status < 500:
		return Failed
	default:
		return Unknown
	}
}

// classifySilence judges an attempt that ended without an answer.
func classifySilence(err error, sent bool) Outcome {
	var dial *net.OpError
	if !sent || errors.As(err, &dial) && dial.Op == "dial" {
		return NotDone
	}
	return Unknown
}

// clockWasWrong tells whether the store turned a signature away because of the time in it. The SDK has noted the
// difference and signs the next attempt with it.
func clockWasWrong(err error) bool {
	var skew interface{ RetryableError() bool }
	var api smithy.APIError
	if !errors.As(err, &skew) || !errors.As(err, &api) {
		return false
	}
	switch api.ErrorCode() {
	case "InvalidSignatureException", "SignatureDoesNotMatch", "AuthFailure", "RequestTimeTooSkewed", "AccessDeniedException":
		return skew.RetryableError()
	}
	return false
}

// TurnedAway tells whether the store answered that it is too busy and did nothing: throttled, or in conflict with others.
func TurnedAway(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && classifyAnswer(api.ErrorCode(), err) == NotDone
}

// Ended is the error of a context that has ended, with its cause where the caller gave one, and nil before.
func Ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if err == nil || cause == nil || errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// NoTable reports whether the store answered that the table does not exist.
func NoTable(err error) bool {
	var missing *types.ResourceNotFoundException
	return errors.As(err, &missing)
}

// Denied reports whether the store answered that these credentials are not allowed to do that.
func Denied(err error) bool {
	var api smithy.APIError
	var response *smithyhttp.ResponseError
	return errors.As(err, &api) && (api.ErrorCode() == "AccessDeniedException" ||
		errors.As(err, &response) && response.HTTPStatusCode() == http.StatusForbidden)
}
