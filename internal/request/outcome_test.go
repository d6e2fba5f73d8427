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

// rejected is the answer to a signature.
func rejected(why string) error {
	return answered(400, &smithy.GenericAPIError{Code: "InvalidSignatureException", Message: why})
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
		err  error
		want Outcome
	}{
		"no error":                  {nil, Done},
		"condition failed":          {answered(400, &types.ConditionalCheckFailedException{}), Refused},
		"one condition of many":     {cancelled("None", "ConditionalCheckFailed", "TransactionConflict"), Refused},
		"condition and validation":  {cancelled("ValidationError", "ConditionalCheckFailed"), Refused},
		"conflicts alone":           {cancelled("None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"), NotDone},
		"validation alone":          {cancelled("None", "ValidationError"), Failed},
		"a reason nobody knows":     {cancelled("SomethingNew"), Failed},
		"throttled":                 {coded(400, "ProvisionedThroughputExceededException"), NotDone},
		"conflict":                  {coded(400, "TransactionConflictException"), NotDone},
		"too many requests":         {coded(429, "Whatever"), NotDone},
		"internal error":            {coded(500, "InternalServerError"), Unknown},
		"unavailable":               {coded(503, "ServiceUnavailable"), Unknown},
		"token of another":          {coded(400, "IdempotentParameterMismatchException"), Unknown},
		"replica conflict":          {coded(400, "ReplicatedWriteConflictException"), Unknown},
		"validation":                {coded(400, "ValidationException"), Failed},
		"denied":                    {coded(400, "AccessDeniedException"), Failed},
		"no table":                  {answered(400, &types.ResourceNotFoundException{}), Failed},
		"dial":                      {fmt.Errorf("send: %w", dial), NotDone},
		"reset":                     {fmt.Errorf("send: %w", read), Unknown},
		"timeout":                   {context.DeadlineExceeded, Unknown},
		"timeout before it was out": {&unsent{context.DeadlineExceeded}, NotDone},
		"garbage with status 200":   {answered(200, errors.New("deserialization failed")), Unknown},
		"signature expired":         {rejected("Signature expired: 20260101T000000Z is now earlier than 20260101T000900Z"), NotDone},
		"signature of the future":   {rejected("Signature not yet current: 20260101T010000Z is still later than 20260101T000500Z"), NotDone},
		"signature of another key":  {rejected("The request signature we calculated does not match the signature you provided."), Failed},
		"token expired":             {coded(400, "ExpiredTokenException"), NotDone},
		"token unknown":             {coded(400, "UnrecognizedClientException"), Failed},
		"a proxy":                   {fmt.Errorf("send: %w", &foreign{403}), Unknown},
		"no credentials":            {&unsent{coded(403, "AccessDenied")}, NotDone},
		"credentials throttled":     {&unsent{coded(400, "Throttling")}, NotDone},
		"no endpoint":               {&unsent{errors.New("resolve endpoint")}, NotDone},
		"refused by the client":     {&unsent{smithy.InvalidParamsError{Context: "PutItemInput"}}, Failed},
	} {
		if got := Classify(c.err); got != c.want {
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
