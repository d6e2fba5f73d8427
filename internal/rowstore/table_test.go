package rowstore

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/dynamolease/dynamolease/internal/elapsed"
	"github.com/dynamolease/dynamolease/internal/request"
	"github.com/dynamolease/dynamolease/internal/storeclock"
)

var (
	errLost      = errors.New("connection reset")
	errRefused   = &types.ConditionalCheckFailedException{}
	errThrottled = &smithy.GenericAPIError{Code: "ThrottlingException"}
	errFailed    = &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: http.StatusBadRequest}},
		Err:      &smithy.GenericAPIError{Code: "ValidationException"},
	}
)

// testTable returns a table whose requests the tests answer themselves.
func testTable() *Table {
	node := elapsed.System(true)
	clock := storeclock.New(storeclock.Config{Elapsed: node, MaxSkew: time.Minute, Node: true})
	return &Table{
		Name: "t", Sender: request.NewSender(clock, node), MaxWait: time.Second,
		Time: &Time{Elapsed: node, Store: clock},
	}
}

// Each outcome leads to the next step that it allows, and to no other.
func TestTry(t *testing.T) {
	for _, tc := range []struct {
		name    string
		answers []error // in this order
		refused bool    // refusals are looked at
		waits   int     // between attempts
		steps   string  // what was told: d(one), r(efused), u(nknown), n(ot done)
		err     error
	}{
		{name: "done", answers: []error{nil}, steps: "d"},
		{name: "lost, then done", answers: []error{errLost, nil}, steps: "ud", waits: 1},
		{name: "throttled, then done", answers: []error{errThrottled, errThrottled, nil}, steps: "nnd", waits: 2},
		{name: "refused and looked at", answers: []error{errRefused, nil}, refused: true, steps: "rd"},
		{name: "refused", answers: []error{errRefused}, err: errRefused},
		{name: "failed", answers: []error{errFailed}, err: errFailed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				table, steps, sent := testTable(), "", 0
				a := Attempts{
					Next: func(context.Context) (Send, error) {
						return func(context.Context, func(*dynamodb.Options)) error {
							sent++
							return tc.answers[sent-1]
						}, nil
					},
					Done:    func(request.Answer) { steps += "d" },
					Unknown: func() { steps += "u" },
					NotDone: func(error) { steps += "n" },
				}
				if tc.refused {
					a.Refused = func(context.Context, request.Answer, error) (bool, error) {
						steps += "r"
						return false, nil
					}
				}
				began := time.Now()
				err := table.Try(t.Context(), table.Budget(0), time.Second, a)
				if (err != nil) != (tc.err != nil) || tc.err != nil && request.Classify(err) != request.Classify(tc.err) {
					t.Errorf("the error is %v, want %v", err, tc.err)
				}
				if steps != tc.steps || sent != len(tc.answers) {
					t.Errorf("told %q after %d requests, want %q after %d", steps, sent, tc.steps, len(tc.answers))
				}
				if waited := time.Since(began) > 0; waited != (tc.waits > 0) {
					t.Errorf("waited %v", time.Since(began))
				}
			})
		})
	}
}

// A call that gets no answer ends with its budget, and says why.
func TestTryEndsWithTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, began := testTable(), time.Now()
		_, err := table.Repeat(t.Context(), table.Budget(6*time.Second), time.Second, func(context.Context, func(*dynamodb.Options)) error {
			return errLost
		})
		if !errors.Is(err, errLost) || time.Since(began) > 3*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// A call whose context ends while it waits returns at once.
func TestTryEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		table, began := testTable(), time.Now()
		_, err := table.Repeat(ctx, table.Budget(0), time.Second, func(context.Context, func(*dynamodb.Options)) error {
			return errThrottled
		})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 10*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}
