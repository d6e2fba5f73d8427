package request

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// An Outcome is the result of a request, as far as it is known.
type Outcome int

const (
	// Done: the store answered that it did the request.
	Done Outcome = iota
	// Refused: a condition did not hold; nothing was written.
	Refused
	// NotDone: nothing was written, and a retry may succeed. The request was throttled, in conflict
	// with a transaction, signed with a wrong clock or an old token, or never sent.
	NotDone
	// Unknown: no answer came, or one that leaves it open, or one that is not DynamoDB's. The write
	// may have been applied. If not, it may still be applied later.
	Unknown
	// Failed: nothing was written, and a retry will not help.
	Failed
)

// notApplied reports whether DynamoDB uses this error code to reject a request before it does
// anything.
func notApplied(code string) bool {
	return throttling(code) || code == "TransactionConflictException"
}

// throttling reports whether DynamoDB refuses a request with this code because it gets too many.
func throttling(code string) bool {
	switch code {
	case "ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded", "LimitExceededException":
		return true
	}
	return false
}

// throttlingReason is throttling for one action of a transaction.
func throttlingReason(code string) bool {
	return code == "ThrottlingError" || code == "ProvisionedThroughputExceeded"
}

// mayBeApplied reports whether this code of a client fault leaves it open whether the write took
// effect.
func mayBeApplied(code string) bool {
	switch code {
	case "IdempotentParameterMismatchException", "TransactionInProgressException", "ReplicatedWriteConflictException",
		"RequestTimeout", "RequestTimeoutException":
		return true
	}
	return false
}

// Classify returns the outcome that the error of an operation stands for.
func Classify(err error) Outcome {
	if err == nil {
		return Done
	}
	if neverSent(err) {
		return classifyUnsent(err)
	}
	var refused *types.ConditionalCheckFailedException
	if errors.As(err, &refused) {
		return Refused
	}
	var cancelled *types.TransactionCanceledException
	if errors.As(err, &cancelled) {
		return classifyReasons(cancelled.CancellationReasons)
	}
	if signedTooLate(err) || clockWasWrong(err) {
		return NotDone
	}
	var api smithy.APIError
	if errors.As(err, &api) {
		return classifyAnswer(api.ErrorCode(), err)
	}
	return classifySilence(err)
}

// neverSent reports whether the request did not leave this process.
func neverSent(err error) bool {
	var u *unsent
	return errors.As(err, &u)
}

// classifyUnsent judges an attempt that failed before it was sent. Credentials may come back; a
// parameter that the client refuses stays as it is.
func classifyUnsent(err error) Outcome {
	var invalid smithy.InvalidParamsError
	if errors.As(err, &invalid) {
		return Failed
	}
	return NotDone
}

// classifyReasons judges a cancelled transaction, which wrote nothing. If a condition did not
// hold, it is refused, whatever the other reasons are. If the store was only busy, a retry may
// succeed.
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

// ClassifyReason judges one action of a cancelled transaction by its reason. It returns Done if the
// action itself would have been possible.
func ClassifyReason(reason types.CancellationReason) Outcome {
	switch code := aws.ToString(reason.Code); {
	case code == "" || code == "None":
		return Done
	case code == "ConditionalCheckFailed":
		return Refused
	case code == "TransactionConflict" || throttlingReason(code):
		return NotDone
	default:
		return Failed
	}
}

// classifyAnswer judges an error that the store itself returned.
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
func classifySilence(err error) Outcome {
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return NotDone
	}
	return Unknown
}

// signedTooLate reports whether the store rejected a signature or token because its time was over: the
// process was frozen before it sent the request, or the token has been replaced since. The next
// attempt is signed anew.
func signedTooLate(err error) bool {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return false
	}
	switch api.ErrorCode() {
	case "ExpiredTokenException":
		return true
	case "InvalidSignatureException":
		return strings.HasPrefix(api.ErrorMessage(), "Signature expired") || strings.HasPrefix(api.ErrorMessage(), "Signature not yet current")
	}
	return false
}

// clockWasWrong reports whether the store rejected a signature because of the time in it. The SDK
// has noted the difference, and uses it when it signs the next attempt.
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

// TurnedAway reports whether the store answered that it did nothing because it is too busy: it
// throttled the request, or the request was in conflict with others.
func TurnedAway(err error) bool {
	var api smithy.APIError
	return !neverSent(err) && errors.As(err, &api) && classifyAnswer(api.ErrorCode(), err) == NotDone
}

// Ended returns the error of a context that has ended, together with its cause if the caller gave
// one. It returns nil as long as the context has not ended.
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
	return !neverSent(err) && errors.As(err, &missing)
}

// Denied reports whether the store answered that these credentials do not allow the request.
func Denied(err error) bool {
	var api smithy.APIError
	var response *smithyhttp.ResponseError
	return !neverSent(err) && errors.As(err, &api) && (api.ErrorCode() == "AccessDeniedException" ||
		errors.As(err, &response) && response.HTTPStatusCode() == http.StatusForbidden)
}
