package operate

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// marks reads which leases of a group are revoked: their epochs, by partition. Only a holder's own leases say so themselves, and so
// this reads the rows again. See "The table" in docs/design.md.
func (t *Table) marks(ctx context.Context, group string) (map[int]int64, error) {
	pages := dynamodb.NewQueryPaginator(t.Client, &dynamodb.QueryInput{
		TableName: &t.Name, ConsistentRead: aws.Bool(true),
		KeyConditionExpression:   aws.String("#pk = :pk"),
		FilterExpression:         aws.String("attribute_exists(#revoked)"),
		ProjectionExpression:     aws.String("#sk, #epoch"),
		ExpressionAttributeNames: map[string]string{"#pk": "pk", "#sk": "sk", "#epoch": "epoch", "#revoked": "revoked"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pk": &types.AttributeValueMemberS{Value: "L#" + group},
		},
	})
	found := make(map[int]int64)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("read what is revoked of %s: %w", group, err)
		}
		for _, row := range page.Items {
			if partition, epoch, ok := mark(row); ok {
				found[partition] = epoch
			}
		}
	}
	return found, nil
}

// mark is not ok for a row that is malformed, which the store reports.
func mark(row map[string]types.AttributeValue) (partition int, epoch int64, ok bool) {
	sk, isText := row["sk"].(*types.AttributeValueMemberS)
	number, isNumber := row["epoch"].(*types.AttributeValueMemberN)
	if !isText || !isNumber {
		return 0, 0, false
	}
	partition, err := strconv.Atoi(strings.TrimPrefix(sk.Value, "P#"))
	if err != nil {
		return 0, 0, false
	}
	epoch, err = strconv.ParseInt(number.Value, 10, 64)
	return partition, epoch, err == nil
}
