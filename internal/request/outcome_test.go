package request

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// answered is an error as the SDK returns one for a response.
func answered(status int, err error) error {
	return &smithy.OperationError{ServiceID: "DynamoDB", OperationName: "UpdateItem", Err: &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}}, Err: err,
	}}
}

func coded(status int, code string) error {
	return answered(status, &smithy.GenericAPIError{Code: code, Message: "on purpose"})
}

func cancelled(codes ...string) error {
	reasons := make([]types.CancellationReason, len(codes))
	for i, code := range codes {
		reasons[i].Code = aws.String(code)
	}
	return answered(400, &types.TransactionCanceledException{CancellationReasons: reasons})
}

func TestClassify(t *testing.T) {
	dial := &net.OpError{Op: "dial", Err: errors.New("refused")}
	read := &net.OpError{Op: "read", Err: errors.New("reset")}
	for name, c := range map[string]struct {
		err    error
		unsent bool
		want   Outcome
	}{
		"no error":                  {nil, false, Done},
		"condition failed":          {answered(400, &types.ConditionalCheckFailedException{}), false, Refused},
		"one condition of many":     {cancelled("None", "ConditionalCheckFailed", "TransactionConflict"), false, Refused},
		"condition and validation":  {cancelled("ValidationError", "ConditionalCheckFailed"), false, Refused},
		"conflicts alone":           {cancelled("None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"), false, NotDone},
		"validation alone":          {cancelled("None", "ValidationError"), false, Failed},
		"a reason nobody knows":     {cancelled("SomethingNew"), false, Failed},
		"throttled":                 {coded(400, "ProvisionedThroughputExceededException"), false, NotDone},
		"conflict":                  {coded(400, "TransactionConflictException"), false, NotDone},
		"too many requests":         {coded(429, "Whatever"), false, NotDone},
		"internal error":            {coded(500, "InternalServerError"), false, Unknown},
		"unavailable":               {coded(503, "ServiceUnavailable"), false, Unknown},
		"token of another":          {coded(400, "IdempotentParameterMismatchException"), false, Unknown},
		"replica conflict":          {coded(400, "ReplicatedWriteConflictException"), false, Unknown},
		"validation":                {coded(400, "ValidationException"), false, Failed},
		"denied":                    {coded(400, "AccessDeniedException"), false, Failed},
		"no table":                  {answered(400, &types.ResourceNotFoundException{}), false, Failed},
		"dial":                      {fmt.Errorf("send: %w", dial), false, NotDone},
		"reset":                     {fmt.Errorf("send: %w", read), false, Unknown},
		"timeout":                   {context.DeadlineExceeded, false, Unknown},
		"timeout before it was out": {context.DeadlineExceeded, true, NotDone},
		"garbage with status 200":   {answered(200, errors.New("deserialization failed")), false, Unknown},
	} {
		if got := Classify(c.err, !c.unsent); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}

func TestEndedKeepsTheErrorAndTheCause(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	if err := Ended(ctx); err != nil {
		t.Errorf("before the end: %v", err)
	}
	cause := errors.New("the reason")
	cancel(cause)
	if err := Ended(ctx); !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
		t.Errorf("got %v, want both", err)
	}
}
