package demo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Where in the store everything belongs.
const (
	service = "demo" // of the members
	group   = "demo" // of the leases
)

// results are the rows with the results, in the table of the leases: one transaction can then check a lease and write.
type results struct {
	client *dynamodb.Client
	table  string
}

// read returns all results, by partition. They fit one page.
func (r *results) read(ctx context.Context) (map[int]result, error) {
	out, err := r.client.Query(ctx, &dynamodb.QueryInput{
		TableName:                 &r.table,
		ConsistentRead:            aws.Bool(true),
		KeyConditionExpression:    aws.String("pk = :pk"),
		ExpressionAttributeValues: row{":pk": text(resultsKey)},
	})
	if err != nil {
		return nil, fmt.Errorf("read the results: %w", err)
	}
	found := make(map[int]result, len(out.Items))
	for _, item := range out.Items {
		res, err := decodeResult(item)
		if err != nil {
			return nil, err
		}
		found[res.partition] = res
	}
	return found, nil
}
