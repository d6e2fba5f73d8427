package dynamotest_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func noRetries(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

func key(name string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: name},
		"sk": &types.AttributeValueMemberS{Value: "row"},
	}
}

// add counts the row n of the table up by one, so that the row tells how often a request was applied.
func add(ctx context.Context, client *dynamodb.Client, table, name string) error {
	_, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 &table,
		Key:                       key(name),
		UpdateExpression:          aws.String("ADD n :one"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
	})
	return err
}

// addTogether is add in a transaction.
func addTogether(ctx context.Context, client *dynamodb.Client, table string, names ...string) error {
	var items []types.TransactWriteItem
	for _, name := range names {
		items = append(items, types.TransactWriteItem{Update: &types.Update{
			TableName:                 &table,
			Key:                       key(name),
			UpdateExpression:          aws.String("ADD n :one"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
		}})
	}
	_, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: items})
	return err
}

// count returns how often add was applied to a row.
func count(t *testing.T, client *dynamodb.Client, table, name string) int {
	t.Helper()
	out, err := client.GetItem(context.Background(), &dynamodb.GetItemInput{
		TableName: &table, Key: key(name), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		t.Fatalf("read the row: %v", err)
	}
	if out.Item == nil {
		return 0
	}
	n, err := strconv.Atoi(out.Item["n"].(*types.AttributeValueMemberN).Value)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
