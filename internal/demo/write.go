package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease"
)

const (
	maxWrites  = 10
	writeDelay = 20 * time.Millisecond
)

// An outcome is what became of a result.
type outcome int

const (
	unsettled outcome = iota // an error says why
	stored                   // it is in the table
	present                  // another result was there before
	taken                    // it was turned away, since the lease is another's
)

// write stores a result on the condition that the worker still holds its lease, and that there is none yet.
func (r *results) write(ctx context.Context, lease dynamolease.Lease, t tally) (outcome, error) {
	res := result{partition: lease.Partition, tally: t, owner: lease.Owner, epoch: lease.Epoch}
	var err error
	for range maxWrites {
		_, err = r.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
			TransactItems: []types.TransactWriteItem{lease.Check(r.table), r.put(res)},
		})
		var done outcome
		if done, err = r.judge(ctx, res, err); done != unsettled {
			return done, nil
		}
		select {
		case <-ctx.Done():
			return unsettled, context.Cause(ctx)
		case <-time.After(writeDelay):
		}
	}
	return unsettled, fmt.Errorf("write the result of %d: %w", lease.Partition, err)
}

func (r *results) put(res result) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{
		TableName:                           &r.table,
		Item:                                res.row(),
		ConditionExpression:                 aws.String("attribute_not_exists(pk)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

// judge tells what became of a write from its error. It is unsettled when it may be tried again.
func (r *results) judge(ctx context.Context, res result, err error) (outcome, error) {
	var cancelled *types.TransactionCanceledException
	switch {
	case err == nil:
		return stored, nil
	case ctx.Err() != nil:
		return unsettled, err
	case errors.As(err, &cancelled) && len(cancelled.CancellationReasons) == 2:
		return judgeReasons(res, cancelled.CancellationReasons, err)
	default:
		return r.look(ctx, res, err)
	}
}

// judgeReasons goes through the reasons of a cancelled transaction: the first is the lease's, the second the result's.
func judgeReasons(res result, reasons []types.CancellationReason, err error) (outcome, error) {
	const failed = "ConditionalCheckFailed"
	switch {
	case aws.ToString(reasons[1].Code) == failed:
		return compare(res, reasons[1].Item)
	case aws.ToString(reasons[0].Code) == failed:
		return taken, nil
	default:
		return unsettled, err // in conflict with a renewal, or throttled
	}
}

// look finds out about a write whose error does not tell whether it was applied. If it was not and still arrives later,
// it is refused because of the next attempt's row, or the next attempt is refused because of its row: both are res.
func (r *results) look(ctx context.Context, res result, cause error) (outcome, error) {
	out, err := r.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &r.table, Key: resultKey(res.partition), ConsistentRead: aws.Bool(true),
	})
	if err != nil || len(out.Item) == 0 {
		return unsettled, errors.Join(cause, err)
	}
	return compare(res, out.Item)
}

// compare tells whose result is there: that of an earlier attempt, whose answer was lost, or another worker's.
func compare(res result, item row) (outcome, error) {
	there, err := decodeResult(item)
	switch {
	case err != nil:
		return unsettled, err
	case there == res:
		return stored, nil
	default:
		return present, nil
	}
}
