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

// An Answer holds the findings of one attempt, in addition to its result.
type Answer struct {
	Sent     elapsed.Reading // of the node's clock, just before the request left
	Received elapsed.Reading // of the node's clock, after the headers came
	Date     time.Time       // the store's clock, in whole seconds; zero if the response had no usable Date
	sent     bool

	operation string // set only if the sender makes reports
	units     float64
}

// A Sender makes attempts. It is safe for concurrent use.
type Sender struct {
	clock   *storeclock.Clock
	elapsed elapsed.Stopwatch
	wired   atomic.Bool // the client uses our middleware: if it did not see an attempt, nothing was sent
	options func(*dynamodb.Options)
	report  func(context.Context, Report) // nil if nobody asked for reports
}

// NewSender returns a sender whose responses feed clock.
func NewSender(clock *storeclock.Clock, node elapsed.Stopwatch) *Sender {
	s := &Sender{clock: clock, elapsed: node}
	measure := middleware.InitializeMiddlewareFunc("DynamoleaseReport", s.measure)
	observe := middleware.DeserializeMiddlewareFunc("DynamoleaseClock", s.observe)
	// observe goes innermost in the Deserialize step. There it runs for each attempt, and sees the
	// headers of refusals and errors too. Further out, those are already Go errors.
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
		// The slice belongs to the client: to append in place would race with other calls.
		o.APIOptions = append(o.APIOptions[:len(o.APIOptions):len(o.APIOptions)], api)
	}
	return s
}

// Do makes one attempt, which ends after timeout at the latest. send passes the context and the
// options to the client.
func (s *Sender) Do(ctx context.Context, timeout time.Duration, send func(context.Context, func(*dynamodb.Options)) error) (Answer, Outcome, error) {
	answer, begun := new(Answer), time.Now()
	if err := Ended(ctx); err != nil {
		return *answer, NotDone, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, timeout, noAnswer(timeout))
	defer cancel()
	err := send(context.WithValue(limited, answerKey{}, answer), s.options)
	if err != nil && !answer.sent && s.wired.Load() {
		err = &unsent{err}
	}
	outcome := Classify(err)
	if err != nil && limited.Err() != nil && ctx.Err() == nil && outcome == Unknown {
		err = fmt.Errorf("%w (%w)", context.Cause(limited), err)
	}
	if s.report != nil {
		s.report(ctx, Report{answer.operation, outcome, time.Since(begun), answer.units, err})
	}
	return *answer, outcome, err
}

// noAnswer is the error of an attempt that reached its own timeout.
type noAnswer time.Duration

func (n noAnswer) Error() string { return "no answer within " + time.Duration(n).String() }
func (n noAnswer) Unwrap() error { return context.DeadlineExceeded }

// OnReport makes the sender call report after each attempt, from the goroutine that made it, which
// waits for it. It also makes the sender ask the store for the capacity that each attempt consumed. Call OnReport
// before the first attempt.
func (s *Sender) OnReport(report func(context.Context, Report)) { s.report = report }

type answerKey struct{}

// measure notes the operation of an attempt and the capacity that it consumed.
func (s *Sender) measure(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
	answer, _ := ctx.Value(answerKey{}).(*Answer)
	if answer == nil {
		return next.HandleInitialize(ctx, in)
	}
	answer.operation = middleware.GetOperationName(ctx)
	askForUnits(in.Parameters)
	out, metadata, err := next.HandleInitialize(ctx, in)
	if err == nil {
		answer.units = Units(out.Result)
	}
	return out, metadata, err
}

// observe notes when an attempt was sent and answered, and the Date of the answer. An answer that
// DynamoDB did not make becomes an error, before anything reads it: its status, its code and its
// Date say nothing about the request.
func (s *Sender) observe(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
	answer, _ := ctx.Value(answerKey{}).(*Answer)
	if answer == nil {
		answer = new(Answer)
	}
	var conn connection
	if request, ok := in.Request.(*smithyhttp.Request); ok && s.clock.Unsettled() {
		request.Close = true // the next request goes over another connection, perhaps to another machine
	}
	answer.sent = true
	answer.Sent = s.elapsed()
	out, metadata, err := next.HandleDeserialize(conn.traced(ctx), in)
	answer.Received = s.elapsed()
	// If there was no response, the transport returns one with status zero.
	response, ok := out.RawResponse.(*smithyhttp.Response)
	if !ok || response == nil || response.StatusCode == 0 {
		answer.sent = !conn.missing()
		return out, metadata, err
	}
	if !byStore(response.Header) {
		return out, metadata, &foreign{response.StatusCode}
	}
	answer.Date, _ = storeclock.ParseDate(response.Header)
	s.clock.Observe(answer.Sent, answer.Received, response.Header, conn.name())
	return out, metadata, err
}
