package bench

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// put writes a row and remembers it.
func (b *bare) put(ctx context.Context, pk, sk string, p put) error {
	err := b.updateItem(ctx, pk, sk, p)
	if err == nil {
		b.rows[sk] = p.row
	}
	return err
}

func (b *bare) updateItem(ctx context.Context, pk, sk string, p put) error {
	_, err := b.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                           aws.String(b.table),
		Key:                                 key(pk, sk),
		UpdateExpression:                    aws.String(p.update),
		ConditionExpression:                 aws.String(p.condition),
		ExpressionAttributeNames:            p.names,
		ExpressionAttributeValues:           p.values,
		ReturnValues:                        p.returns,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	return err
}

func (b *bare) get(ctx context.Context, row map[string]types.AttributeValue) (map[string]types.AttributeValue, error) {
	out, err := b.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(b.table), Key: row, ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

func (b *bare) query(ctx context.Context, pk string) ([]map[string]types.AttributeValue, error) {
	out, err := b.client.Query(ctx, &dynamodb.QueryInput{
		TableName:                 aws.String(b.table),
		ConsistentRead:            aws.Bool(true),
		KeyConditionExpression:    aws.String("#pk = :pk"),
		ExpressionAttributeNames:  map[string]string{"#pk": "pk"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": text(pk)},
	})
	if err != nil {
		return nil, err
	}
	return out.Items, nil
}

func (b *bare) between(ctx context.Context, pk, first, last string) ([]map[string]types.AttributeValue, error) {
	out, err := b.client.Query(ctx, &dynamodb.QueryInput{
		TableName:                aws.String(b.table),
		ConsistentRead:           aws.Bool(true),
		KeyConditionExpression:   aws.String("#pk = :pk AND #sk BETWEEN :first AND :last"),
		ExpressionAttributeNames: map[string]string{"#pk": "pk", "#sk": "sk"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pk": text(pk), ":first": text(first), ":last": text(last),
		},
	})
	if err != nil {
		return nil, err
	}
	return out.Items, nil
}
