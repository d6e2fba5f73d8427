package dynamolease

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A rowRange is the rows of one partition key, or those between two of its sort keys.
type rowRange struct{ pk, first, last string }

// query reads all rows of a range, strongly consistent, page by page, in the order of their sort keys. Each page has
// the patience of a call of its own, so that a large group is not given up half read.
func query[R any](ctx context.Context, s *Store, r rowRange, ttl time.Duration, decode func(item) (R, error)) ([]R, error) {
	input := r.input(s.table)
	var rows []R
	for {
		page, err := s.page(ctx, input, ttl)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			row, err := decode(item)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
		if len(page.LastEvaluatedKey) == 0 {
			return rows, nil
		}
		input.ExclusiveStartKey = page.LastEvaluatedKey
	}
}

// queryNow is query, and a moment after it by which to judge the rows. A node that was suspended between the two does
// not know the store's time, and reads again.
func queryNow[R any](ctx context.Context, s *Store, r rowRange, ttl time.Duration, decode func(item) (R, error)) ([]R, moment, error) {
	for {
		rows, err := query(ctx, s, r, ttl, decode)
		if err != nil {
			return nil, moment{}, err
		}
		if at, ok := s.timing.moment(); ok {
			return rows, at, nil
		}
	}
}

func (s *Store) page(ctx context.Context, input *dynamodb.QueryInput, ttl time.Duration) (page *dynamodb.QueryOutput, err error) {
	err = s.repeat(ctx, s.budget(ttl), s.timeout(ttl), func(ctx context.Context, opt func(*dynamodb.Options)) (err error) {
		page, err = s.client.Query(ctx, input, opt)
		return err
	})
	return page, err
}

func (r rowRange) input(table string) *dynamodb.QueryInput {
	input := &dynamodb.QueryInput{
		TableName:                 &table,
		ConsistentRead:            aws.Bool(true),
		KeyConditionExpression:    aws.String("#pk = :pk"),
		ExpressionAttributeNames:  map[string]string{"#pk": attrPK},
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": stringValue(r.pk)},
	}
	if r.first != "" {
		input.KeyConditionExpression = aws.String("#pk = :pk AND #sk BETWEEN :first AND :last")
		input.ExpressionAttributeNames["#sk"] = attrSK
		input.ExpressionAttributeValues[":first"] = stringValue(r.first)
		input.ExpressionAttributeValues[":last"] = stringValue(r.last)
	}
	return input
}
