package function_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// rows reads and writes rows of the table without the library.
type rows struct {
	t      *testing.T
	client *dynamodb.Client
	table  string
}

type row = map[string]types.AttributeValue

// lease returns the row of a free lease whose ttl is that far from now.
func lease(partition int, ttl time.Duration) row {
	return row{
		"pk":    text("L#orders"),
		"sk":    text(fmt.Sprintf("P#%010d", partition)),
		"epoch": number(7),
		"rev":   text("rev-" + strconv.Itoa(partition)),
		"ttl":   number(time.Now().Add(ttl).Unix()),
	}
}

// dead returns rows of free leases that nobody needs any more.
func dead(count int) []row {
	list := make([]row, count)
	for i := range list {
		list[i] = lease(i, -time.Hour)
	}
	return list
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func (r rows) put(list ...row) {
	r.t.Helper()
	const batch = 25
	for len(list) > 0 {
		n := min(batch, len(list))
		var requests []types.WriteRequest
		for _, item := range list[:n] {
			requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
		}
		list = list[n:]
		input := &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{r.table: requests}}
		if out, err := r.client.BatchWriteItem(r.t.Context(), input); err != nil || len(out.UnprocessedItems) > 0 {
			r.t.Fatalf("put rows: %v, %v", out, err)
		}
	}
}

// keys returns the sort keys of the leases in the table.
func (r rows) keys() []string {
	r.t.Helper()
	keys := []string{}
	pages := dynamodb.NewScanPaginator(r.client, &dynamodb.ScanInput{TableName: &r.table})
	for pages.HasMorePages() {
		page, err := pages.NextPage(r.t.Context())
		if err != nil {
			r.t.Fatal(err)
		}
		for _, item := range page.Items {
			if sk := item["sk"].(*types.AttributeValueMemberS).Value; sk != "POSITION" {
				keys = append(keys, sk)
			}
		}
	}
	return keys
}
