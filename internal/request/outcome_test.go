package request

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

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

func TestBudgetEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, cause := time.Now(), errors.New("busy")
		b := NewBudget(5*time.Second, time.Second)
		tries := 1
		err := b.Again(t.Context(), cause)
		for ; err == nil; err = b.Again(t.Context(), cause) {
			tries++
		}
		if took := time.Since(began); took > 5*time.Second || took < 3*time.Second {
			t.Errorf("%d tries took %v", tries, took)
		}
		if !errors.Is(err, cause) || tries < 7 || tries > 20 {
			t.Errorf("%d tries, %v", tries, err)
		}
	})
}

// A conflict is over soon: it is tried again after 20 to 50 ms, however often, and by a budget that
// otherwise allows one attempt, too.
func TestConflictIsTriedAgainSoon(t *testing.T) {
	reasons := func(codes ...string) error {
		var all []types.CancellationReason
		for _, code := range codes {
			all = append(all, types.CancellationReason{Code: &code})
		}
		return &types.TransactionCanceledException{CancellationReasons: all}
	}
	for name, budget := range map[string]func() *Budget{
		"many": func() *Budget { return NewBudget(5*time.Second, time.Second) },
		"once": func() *Budget { return Once(5 * time.Second) },
	} {
		for kind, conflict := range map[string]error{
			"request": &types.TransactionConflictException{}, "transaction": reasons("None", "TransactionConflict"),
		} {
			synctest.Test(t, func(t *testing.T) {
				b, began := budget(), time.Now()
				for before := began; ; before = time.Now() {
					if err := b.Again(t.Context(), fmt.Errorf("write: %w", conflict)); err != nil {
						break
					}
					if took := time.Since(before); took < 20*time.Millisecond || took > 50*time.Millisecond {
						t.Fatalf("%s, %s: tried again after %v", name, kind, took)
					}
				}
				if took := time.Since(began); took < 4900*time.Millisecond || took > 5*time.Second {
					t.Errorf("%s, %s: gave up after %v", name, kind, took)
				}
			})
		}
	}
	if Once(time.Minute).Again(t.Context(), errors.New("lost")) == nil {
		t.Error("a second attempt after another failure")
	}
}

func TestBudgetEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		began, cause := time.Now(), errors.New("busy")
		b := NewBudget(time.Minute, time.Second)
		var err error
		for err == nil {
			err = b.Again(ctx, cause)
		}
		if took := time.Since(began); took != 100*time.Millisecond {
			t.Errorf("took %v", took)
		}
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, cause) {
			t.Errorf("got %v, want both", err)
		}
	})
}

func TestSharedBudgetsEndTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(time.Second, time.Second)
		time.Sleep(600 * time.Millisecond)
		other := b.Share()
		if got := other.Timeout(time.Minute); got != 400*time.Millisecond {
			t.Errorf("timeout %v, want what is left", got)
		}
		time.Sleep(500 * time.Millisecond)
		if b.Spent() == nil || other.Spent() == nil {
			t.Error("not spent after its time")
		}
	})
}
