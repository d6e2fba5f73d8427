package rowstore

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/internal/request"
)

// A Client is what this package needs of DynamoDB.
type Client interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// A Querier reads several rows at once. Only tables that are queried need one.
type Querier interface {
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// A Table is one table, as one process sees it. It is safe for concurrent use.
type Table struct {
	Client  Client
	Querier Querier
	Name    string
	Sender  *request.Sender
	Time    *Time
	MaxWait time.Duration // of one request
	Pace    *request.Pace // of all calls but those that go first; nil for none

	// Timeless says that no row is judged by the store's time, so that no call waits for it.
	Timeless bool
}

// Shares of the ttl: a request that hangs must leave time for several others, and a call that
// cannot get through must end while its caller can still do something about it.
const (
	requestsPerTTL = 6
	callsPerTTL    = 2

	// Patience bounds a call without a ttl.
	Patience = 10 * time.Second
)

// Timeout bounds one request, well below the ttl; 0 stands for none.
func (t *Table) Timeout(ttl time.Duration) time.Duration {
	if ttl == 0 {
		return min(t.MaxWait, Patience)
	}
	return min(t.MaxWait, ttl/requestsPerTTL)
}

// Budget bounds all attempts of a call, besides its context.
func (t *Table) Budget(ttl time.Duration) *request.Budget { return budget(ttl).Paced(t.Pace) }

// First is the Budget of a heartbeat or a renewal of what has so much left: nothing else holds it up
// while the store throttles.
func (t *Table) First(ttl, left time.Duration) *request.Budget { return budget(ttl).First(ttl, left) }

func budget(ttl time.Duration) *request.Budget {
	if ttl == 0 {
		return request.NewBudget(Patience, Patience/10)
	}
	return request.NewBudget(ttl/callsPerTTL, ttl/requestsPerTTL)
}

// A Send makes one request with the options that it is given.
type Send func(ctx context.Context, options func(*dynamodb.Options)) error

// Attempts is a request that is sent until it is answered, or several, each decided anew from what
// became of the ones before.
type Attempts struct {
	// Enter waits until an attempt may begin, and returns what to call when it has ended; nil for
	// attempts that wait for nothing.
	Enter func(ctx context.Context) (leave func(), err error)

	// Next returns the next request; nil when nothing is left to be sent.
	Next func(ctx context.Context) (Send, error)

	// Done takes in that the latest request was done, which ends the call; nil for nothing to note.
	Done func(request.Answer)

	// Refused takes in that a condition did not hold, and reports whether to wait before the next
	// attempt. Nil ends the call with the refusal.
	Refused func(ctx context.Context, answer request.Answer, refusal error) (wait bool, err error)

	// Unknown and NotDone take in that the latest request was not answered, or turned away; nil for
	// nothing to note.
	Unknown func()
	NotDone func(cause error)
}

// Try makes attempts until one is done, nothing is left to be sent, or the budget is used up. It is
// the one place that decides what follows an outcome.
func (t *Table) Try(ctx context.Context, budget *request.Budget, timeout time.Duration, a Attempts) error {
	for {
		answer, outcome, cause, err := t.attempt(ctx, budget, timeout, a)
		if err != nil || outcome == nothing {
			return err
		}
		wait := true
		switch {
		case outcome == request.Done:
			if a.Done != nil {
				a.Done(answer)
			}
			return nil
		case outcome == request.Refused && a.Refused != nil:
			if wait, err = a.Refused(ctx, answer, cause); err != nil {
				return err
			}
		case outcome == request.Unknown:
			if a.Unknown != nil {
				a.Unknown()
			}
		case outcome == request.NotDone:
			if a.NotDone != nil {
				a.NotDone(cause)
			}
		default:
			return cause
		}
		if !wait {
			budget.Missed(cause)
			continue
		}
		if err := budget.Again(ctx, cause); err != nil {
			return err
		}
	}
}

// errNotSent is why an attempt was not done that the budget did not allow.
var errNotSent = errors.New("not sent")

// nothing is the outcome of an attempt for which nothing was left to be sent.
const nothing request.Outcome = -1

// attempt sends the next request, and returns its outcome and the cause of that. It returns an error
// if no further request can be sent.
func (t *Table) attempt(ctx context.Context, budget *request.Budget, timeout time.Duration, a Attempts) (
	answer request.Answer, outcome request.Outcome, cause, err error,
) {
	if err := budget.Turn(ctx, timeout); err != nil {
		return answer, nothing, nil, err
	}
	if a.Enter != nil {
		leave, err := budget.Await(ctx, a.Enter)
		if err != nil {
			return answer, nothing, nil, err
		}
		defer leave()
	}
	send, err := a.Next(ctx)
	if err != nil || send == nil {
		return answer, nothing, nil, err
	}
	limit, err := budget.Begin(ctx, timeout)
	if err != nil {
		if a.NotDone != nil {
			a.NotDone(errNotSent)
		}
		return answer, nothing, nil, err
	}
	began := time.Now()
	answer, outcome, cause = t.Sender.Do(ctx, limit, send)
	t.Pace.Answered(began, outcome, cause)
	return answer, outcome, cause, nil
}

// Repeat sends one request until it is answered.
func (t *Table) Repeat(ctx context.Context, budget *request.Budget, timeout time.Duration, send Send) (answer request.Answer, err error) {
	err = t.Try(ctx, budget, timeout, Attempts{
		Next: func(context.Context) (Send, error) { return send, nil },
		Done: func(a request.Answer) { answer = a },
	})
	return answer, err
}

// Get reads a row, strongly consistent, until there is an answer. A row that is not there is an
// empty item.
func (t *Table) Get(ctx context.Context, k Key, budget *request.Budget, timeout time.Duration) (Item, request.Answer, error) {
	var out *dynamodb.GetItemOutput
	answer, err := t.Repeat(ctx, budget, timeout, func(ctx context.Context, opt func(*dynamodb.Options)) (err error) {
		out, err = t.Client.GetItem(ctx, &dynamodb.GetItemInput{
			TableName: &t.Name, Key: k.Item(), ConsistentRead: aws.Bool(true),
		}, opt)
		return err
	})
	if err != nil {
		return nil, answer, err
	}
	return out.Item, answer, nil
}

// Write returns the request that writes one row: an UpdateItem, or a transaction where actions
// besides it must take effect together with it. Each request has an input of its own: the SDK
// writes its idempotency token into the one that it is given, and DynamoDB answers a repeated token
// with success without writing anything.
func (t *Table) Write(update *types.Update, also ...types.TransactWriteItem) Send {
	if len(also) > 0 {
		return t.Transact(append([]types.TransactWriteItem{{Update: update}}, also...))
	}
	return func(ctx context.Context, opt func(*dynamodb.Options)) error {
		_, err := t.Client.UpdateItem(ctx, updateInput(update), opt)
		return err
	}
}

// WriteReturning returns the request that writes one row, and puts the row as it is then into row.
func (t *Table) WriteReturning(update *types.Update, row *Item) Send {
	return func(ctx context.Context, opt func(*dynamodb.Options)) error {
		input := updateInput(update)
		input.ReturnValues = types.ReturnValueAllNew
		out, err := t.Client.UpdateItem(ctx, input, opt)
		if err == nil {
			*row = out.Attributes
		}
		return err
	}
}

func updateInput(update *types.Update) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName: update.TableName, Key: update.Key,
		UpdateExpression: update.UpdateExpression, ConditionExpression: update.ConditionExpression,
		ExpressionAttributeNames:            update.ExpressionAttributeNames,
		ExpressionAttributeValues:           update.ExpressionAttributeValues,
		ReturnValuesOnConditionCheckFailure: update.ReturnValuesOnConditionCheckFailure,
	}
}

// Transact returns the request that makes all actions, or none.
func (t *Table) Transact(actions []types.TransactWriteItem) Send {
	return func(ctx context.Context, opt func(*dynamodb.Options)) error {
		_, err := t.Client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: actions}, opt)
		return err
	}
}
