package dynamolease

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/internal/request"
)

// get reads a row, strongly consistent, until there is an answer. A row that is not there is an empty item.
func (s *Store) get(ctx context.Context, k key, budget *request.Budget, timeout time.Duration) (item, request.Answer, error) {
	var out *dynamodb.GetItemOutput
	answer, err := s.repeat(ctx, budget, timeout, func(ctx context.Context, opt func(*dynamodb.Options)) (err error) {
		out, err = s.client.GetItem(ctx, &dynamodb.GetItemInput{
			TableName: &s.table, Key: k.attributes(), ConsistentRead: aws.Bool(true),
		}, opt)
		return err
	})
	if err != nil {
		return nil, answer, err
	}
	return out.Item, answer, nil
}

// repeat sends a read until it is answered.
func (s *Store) repeat(ctx context.Context, budget *request.Budget, timeout time.Duration, send func(context.Context, func(*dynamodb.Options)) error) (request.Answer, error) {
	for {
		answer, outcome, err := s.sender.Do(ctx, budget.Timeout(timeout), send)
		if outcome == request.Done {
			return answer, nil
		}
		if outcome == request.Failed {
			return answer, err
		}
		if err := budget.Again(ctx, err); err != nil {
			return answer, err
		}
	}
}

// A rowWrite is a conditional write of one row.
type rowWrite struct {
	condition
	attributes []attribute
	check      *condition // of another row, in the same transaction
}

// write makes one attempt at a conditional write.
func (s *Store) write(ctx context.Context, w rowWrite, timeout time.Duration) (request.Answer, request.Outcome, error) {
	if w.check != nil {
		return s.writeChecked(ctx, w, timeout)
	}
	e := newExpression(w.attributes, w.accepted)
	return s.sender.Do(ctx, timeout, func(ctx context.Context, opt func(*dynamodb.Options)) error {
		_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &s.table, Key: w.key.attributes(), UpdateExpression: &e.update, ConditionExpression: &e.condition,
			ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}, opt)
		return err
	})
}

// writeChecked writes the row and checks another in one transaction: the row first, its reason is read from there.
func (s *Store) writeChecked(ctx context.Context, w rowWrite, timeout time.Duration) (request.Answer, request.Outcome, error) {
	input := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Update: s.update(w.condition, w.attributes)},
		{ConditionCheck: s.conditionCheck(*w.check)},
	}}
	return s.sender.Do(ctx, timeout, func(ctx context.Context, opt func(*dynamodb.Options)) error {
		_, err := s.client.TransactWriteItems(ctx, input, opt)
		return err
	})
}

// update is a conditional write of one row as an action of a transaction.
func (s *Store) update(c condition, attributes []attribute) *types.Update {
	e := newExpression(attributes, c.accepted)
	return &types.Update{
		TableName: &s.table, Key: c.key.attributes(), UpdateExpression: &e.update, ConditionExpression: &e.condition,
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}

func (s *Store) conditionCheck(c condition) *types.ConditionCheck {
	e := newExpression(nil, c.accepted)
	return &types.ConditionCheck{
		TableName: &s.table, Key: c.key.attributes(), ConditionExpression: &e.condition,
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
	}
}

// refusedItem is the row that a failed condition brought along, free of charge; empty where there is none. It did not
// come where another condition of the transaction failed.
func refusedItem(err error) (row item, came bool) {
	var refused *types.ConditionalCheckFailedException
	if errors.As(err, &refused) {
		return refused.Item, true
	}
	var cancelled *types.TransactionCanceledException
	if errors.As(err, &cancelled) && len(cancelled.CancellationReasons) > 0 {
		first := cancelled.CancellationReasons[0]
		return first.Item, request.ClassifyReason(first) == request.Refused
	}
	return nil, false
}
