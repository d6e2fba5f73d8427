package bench

import (
	"fmt"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A read that begins after a write has ended sees it, whatever was read before and whoever writes
// at the same time, and a read of another key is not asked for again.
func TestMemo(t *testing.T) {
	l := remembering(t)
	client := l.client()
	put := func(pk, sk, value string) error {
		item := key(pk, sk)
		item["value"] = text(value)
		_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &l.table, Item: item})
		return err
	}
	read := func(pk string) (map[string]string, string, error) {
		out, err := client.Query(t.Context(), &dynamodb.QueryInput{
			TableName: &l.table, KeyConditionExpression: aws.String("pk = :pk"), ConsistentRead: aws.Bool(true),
			ExpressionAttributeValues: map[string]types.AttributeValue{":pk": text(pk)},
		})
		if err != nil {
			return nil, "", err
		}
		values := make(map[string]string)
		for _, item := range out.Items {
			values[item["sk"].(*types.AttributeValueMemberS).Value] = item["value"].(*types.AttributeValueMemberS).Value
		}
		id, _ := awsmiddleware.GetRequestIDMetadata(out.ResultMetadata)
		return values, id, nil
	}

	if err := put("quiet", "row", "1"); err != nil {
		t.Fatal(err)
	}
	_, first, err := read("quiet")
	if err != nil || first == "" {
		t.Fatal(first, err)
	}
	const writers, writes = 8, 50
	var running sync.WaitGroup
	for w := range writers {
		running.Go(func() {
			sk := fmt.Sprint("row-", w)
			for i := range writes {
				want := fmt.Sprint(i)
				if err := put("busy", sk, want); err != nil {
					t.Error(err)
					return
				}
				if got, _, err := read("busy"); err != nil || got[sk] != want {
					t.Errorf("read %q after %q was written (%v)", got[sk], want, err)
					return
				}
			}
		})
	}
	running.Wait()
	if _, again, err := read("quiet"); err != nil || again != first {
		t.Errorf("another answer, %q after %q: %v", again, first, err)
	}
	_, err = client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Delete: &types.Delete{TableName: &l.table, Key: key("quiet", "row")}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := read("quiet"); err != nil || len(got) != 0 {
		t.Errorf("read %v after a transaction deleted it (%v)", got, err)
	}
}
