package request

import (
	"errors"
	"net/http"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// errThrottled is why a call is held up, and at last gives up, without an attempt.
var errThrottled = errors.New("the store throttles the requests of this process")

// Throttled reports whether the store answered that it did nothing because it gets more requests
// than it lets through, or that a call was held up for that reason until its budget was used up.
func Throttled(err error) bool {
	if !byItsWord(err) {
		return false
	}
	var status *smithyhttp.ResponseError
	if errors.Is(err, errThrottled) || errors.As(err, &status) && status.HTTPStatusCode() == http.StatusTooManyRequests {
		return true
	}
	return told(err, func(code string) bool { return throttling(code) || throttlingReason(code) })
}

// Conflicting reports whether the store answered that another write of the row is under way: a
// transaction, or a write in another Region. That is over soon.
func Conflicting(err error) bool {
	return told(err, func(code string) bool {
		return code == "TransactionConflictException" || code == "ReplicatedWriteConflictException" || code == "TransactionConflict"
	})
}

// byItsWord reports whether an error may be the store's own answer: neither that of a proxy, nor of a
// service that gives credentials.
func byItsWord(err error) bool {
	var other *foreign
	return !neverSent(err) && !errors.As(err, &other)
}

// told reports whether the store answered with such a code, for the request or for one action of it.
func told(err error, such func(code string) bool) bool {
	if !byItsWord(err) {
		return false
	}
	var cancelled *types.TransactionCanceledException
	if errors.As(err, &cancelled) {
		return slices.ContainsFunc(cancelled.CancellationReasons, func(r types.CancellationReason) bool {
			return such(aws.ToString(r.Code))
		})
	}
	var api smithy.APIError
	return errors.As(err, &api) && such(api.ErrorCode())
}
