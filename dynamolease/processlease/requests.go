package processlease

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/internal/request"
)

// get reads a row, strongly consistent, until there is an answer. A row that is not there is empty.
func (a *Authority) get(ctx context.Context, k key, budget *request.Budget) (item, error) {
	for {
		var out *dynamodb.GetItemOutput
		_, outcome, err := a.sender.Do(ctx, a.timeout, func(ctx context.Context, opt func(*dynamodb.Options)) (err error) {
			out, err = a.client.GetItem(ctx, &dynamodb.GetItemInput{
				TableName: &a.table, Key: k.attributes(), ConsistentRead: aws.Bool(true),
			}, opt)
			return err
		})
		switch outcome {
		case request.Done:
			return out.Item, nil
		case request.Failed:
			return nil, a.failure(err)
		}
		if err := a.again(ctx, budget, err); err != nil {
			return nil, err
		}
	}
}

// again waits before the next attempt at a request that failed with cause. Its error says why there is none.
func (a *Authority) again(ctx context.Context, budget *request.Budget, cause error) error {
	err := budget.Again(ctx, cause)
	if err != nil && ctx.Err() == nil {
		return a.failure(err)
	}
	return err
}

// write makes one attempt. Its input is new each time: the SDK writes its idempotency token into the one that it gets.
func (s *Store) write(ctx context.Context, a attempt) (request.Outcome, error) {
	client, table := s.authority.client, s.authority.table
	_, outcome, err := s.authority.sender.Do(ctx, s.authority.timeout, func(ctx context.Context, opt func(*dynamodb.Options)) error {
		update := headUpdate(table, a)
		if a.takesOver() {
			_, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
				{Update: update},
				{Update: fenceUpdate(table, predecessorKey(s.node, a.fence.Predecessor.Owner), a.fence)},
				{Update: fenceUpdate(table, successorKey(s.node, a.fence.Successor.Term), a.fence)},
			}}, opt)
			return err
		}
		_, err := client.UpdateItem(ctx, updateItem(update), opt)
		return err
	})
	return outcome, err
}

// updateItem is the update as a request of its own.
func updateItem(u *types.Update) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName: u.TableName, Key: u.Key,
		UpdateExpression: u.UpdateExpression, ConditionExpression: u.ConditionExpression,
		ExpressionAttributeNames: u.ExpressionAttributeNames, ExpressionAttributeValues: u.ExpressionAttributeValues,
		ReturnValuesOnConditionCheckFailure: u.ReturnValuesOnConditionCheckFailure,
	}
}

// headUpdate makes the head next if it is still exactly base, in every field.
func headUpdate(table string, a attempt) *types.Update {
	e := newExpression(a.next.attributes())
	if !a.next.Resigned && a.base.Resigned {
		e.remove(attrResigned)
	}
	if !a.base.exists() {
		e.requireAbsent(attrPK)
		return e.update(table, headKey(a.next.Node))
	}
	e.requireEqual(a.base.attributes())
	e.requireAbsent(attrTTL)
	if !a.base.Resigned {
		e.requireAbsent(attrResigned)
	}
	return e.update(table, headKey(a.next.Node))
}

// fenceUpdate writes a fence where there is none.
func fenceUpdate(table string, k key, f *Fence) *types.Update {
	e := newExpression(f.attributes())
	e.requireAbsent(attrPK)
	return e.update(table, k)
}

// refusedHead is the head that a refusal brought along, if the head was the reason: it is not the one that was seen.
// Otherwise something transient cancelled the transaction, or trying again does not help, which is an error.
func refusedHead(err error) (row item, changed bool, _ error) {
	var refused *types.ConditionalCheckFailedException
	if errors.As(err, &refused) {
		return refused.Item, true, nil
	}
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) || len(cancelled.CancellationReasons) == 0 {
		return nil, false, nil
	}
	switch first := cancelled.CancellationReasons[0]; aws.ToString(first.Code) {
	case conditionFailed:
		return first.Item, true, nil
	case "TransactionConflict", "ProvisionedThroughputExceeded", "ThrottlingError":
		// The head was not looked at. Fences that are there already can be those of the transaction that has locked it.
		return nil, false, nil
	}
	for _, reason := range cancelled.CancellationReasons {
		switch code := aws.ToString(reason.Code); code {
		case conditionFailed:
			return nil, false, invalid("the term that would begin, or the owner that would be superseded, has a fence already: rows were deleted or restored")
		case "None", "TransactionConflict", "ProvisionedThroughputExceeded", "ThrottlingError":
		default:
			return nil, false, invalid("the transaction was cancelled with %s: %s", code, aws.ToString(reason.Message))
		}
	}
	return nil, false, nil
}

const conditionFailed = "ConditionalCheckFailed"
