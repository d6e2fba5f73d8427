package request

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/dynamolease/dynamolease/internal/elapsed"
	"github.com/dynamolease/dynamolease/internal/storeclock"
)

// An Answer is what one attempt learned besides its result.
type Answer struct {
	Sent, Received elapsed.Reading // the node's clock, just before the request went out and after the headers came in
	Date           time.Time       // the store's clock, in whole seconds; zero when the response had no usable Date
	sent           bool

	operation string // known where reports are asked for
	units     float64
}

// A Sender makes attempts. Safe for concurrent use.
type Sender struct {
	clock   *storeclock.Clock
	elapsed elapsed.Clock
	wired   atomic.Bool // the client takes our middleware, so an attempt that it did not see was never sent
	options func(*dynamodb.Options)
	report  func(context.Context, Report) // nil for nobody
}

// NewSender returns a sender whose responses feed clock.
func NewSender(clock *storeclock.Clock, node elapsed.Clock) *Sender {
	s := &Sender{clock: clock, elapsed: node}
	measure := middleware.InitializeMiddlewareFunc("DynamoleaseReport", s.measure)
	observe := middleware.DeserializeMiddlewareFunc("DynamoleaseClock", s.observe)
	// observe goes innermost in the Deserialize step, where it runs for each attempt and sees the headers of refusals and
	// errors too: further out those have become Go errors.
	api := func(stack *middleware.Stack) error {
		s.wired.Store(true)
		if s.report != nil {
			if err := stack.Initialize.Add(measure, middleware.After); err != nil {
				return err
			}
		}
		return stack.Deserialize.Add(observe, middleware.After)
	}
	s.options = func(o *dynamodb.Options) {
		o.Retryer = aws.NopRetryer{}
		// The slice is the client's own: appending in place would race with other calls.
		o.APIOptions = append(o.APIOptions[:len(o.APIOptions):len(o.APIOptions)], api)
	}
	return s
}

// Do makes one attempt, which ends after timeout at the latest. send gives the context and the options to the client.
func (s *Sender) Do(ctx context.Context, timeout time.Duration, send func(context.Context, func(*dynamodb.Options)) error) (Answer, Outcome, error) {
	answer, begun := new(Answer), time.Now()
	if err := Ended(ctx); err != nil {
		return *answer, NotDone, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, timeout, noAnswer(timeout))
	defer cancel()
	err := send(context.WithValue(limited, answerKey{}, answer), s.options)
	outcome := Classify(err, answer.sent || !s.wired.Load())
	if err != nil && limited.Err() != nil && ctx.Err() == nil && outcome == Unknown {
		err = fmt.Errorf("%w (%w)", context.Cause(limited), err)
	}
	if s.report != nil {
		s.report(ctx, Report{answer.operation, outcome, time.Since(begun), answer.units, err})
	}
	return *answer, outcome, err
}

// noAnswer is the error of an attempt that ran into its own timeout.
type noAnswer time.Duration

func (n noAnswer) Error() string { return "no answer within " + time.Duration(n).String() }
func (n noAnswer) Unwrap() error { return context.DeadlineExceeded }

type answerKey struct{}

func (s *Sender) observe(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
	answer, _ := ctx.Value(answerKey{}).(*Answer)
	if answer == nil {
		answer = new(Answer)
	}
	answer.sent = true
	answer.Sent = s.elapsed()
	out, metadata, err := next.HandleDeserialize(ctx, in)
	answer.Received = s.elapsed()
	// Without a response the transport hands out one with status zero.
	if response, ok := out.RawResponse.(*smithyhttp.Response); ok && response != nil && response.StatusCode != 0 {
		answer.Date, _ = storeclock.ParseDate(response.Header)
		s.clock.Observe(answer.Sent, answer.Received, response.Header)
	}
	return out, metadata, err
}
