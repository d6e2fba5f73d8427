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
func (s *Store) get(ctx context.Context, k key, budget *request.Budget, timeout time.Duration) (item, error) {
	var out *dynamodb.GetItemOutput
	err := s.repeat(ctx, budget, timeout, func(ctx context.Context, opt func(*dynamodb.Options)) (err error) {
		out, err = s.client.GetItem(ctx, &dynamodb.GetItemInput{
			TableName: &s.table, Key: k.attributes(), ConsistentRead: aws.Bool(true),
		}, opt)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

// repeat sends a read until it is answered.
func (s *Store) repeat(ctx context.Context, budget *request.Budget, timeout time.Duration, send func(context.Context, func(*dynamodb.Options)) error) error {
	for {
		_, outcome, err := s.sender.Do(ctx, timeout, send)
		if outcome == request.Done {
			return nil
		}
		if outcome == request.Failed {
			return err
		}
		if err := budget.Again(ctx, err); err != nil {
			return err
		}
	}
}

// write makes one attempt at a conditional write of one row.
func (s *Store) write(ctx context.Context, k key, what action, attributes []attribute, accepted []string, timeout time.Duration) (request.Answer, request.Outcome, error) {
	if what == remove {
		e := newExpression(nil, accepted)
		return s.sender.Do(ctx, timeout, func(ctx context.Context, opt func(*dynamodb.Options)) error {
			_, err := s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
				TableName: &s.table, Key: k.attributes(), ConditionExpression: &e.condition,
				ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
				ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
			}, opt)
			return err
		})
	}
	e := newExpression(attributes, accepted)
	return s.sender.Do(ctx, timeout, func(ctx context.Context, opt func(*dynamodb.Options)) error {
		_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &s.table, Key: k.attributes(), UpdateExpression: &e.update, ConditionExpression: &e.condition,
			ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}, opt)
		return err
	})
}

// refusedItem is the row that a failed condition brought along, free of charge.
func refusedItem(err error) item {
	var refused *types.ConditionalCheckFailedException
	if errors.As(err, &refused) {
		return refused.Item
	}
	return nil
}
