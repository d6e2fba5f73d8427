//go:build linux

package chaos

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// A database is the server. Its tables are on disk, so that they outlive its kills.
type database struct {
	server *dynamotest.Server
	table  string
}

// address returns the address to which the proxies lead.
func (d *database) address() (string, error) {
	u, err := url.Parse(d.server.Endpoint())
	if err != nil {
		return "", fmt.Errorf("parse the endpoint: %w", err)
	}
	return u.Host, nil
}

// A row is one item in the table at the end of the run.
type row struct {
	item    int
	times   int
	epoch   int64
	process string
}

// rows returns the items of a partition, in order.
func (d *database) rows(ctx context.Context, partition int) ([]row, error) {
	pages := dynamodb.NewQueryPaginator(d.server.Client(), d.query(partition))
	var rows []row
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the items of partition %d: %w", partition, err)
		}
		for _, item := range page.Items {
			r, err := decodeRow(item)
			if err != nil {
				return nil, fmt.Errorf("decode an item of partition %d: %w", partition, err)
			}
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// written returns how many items a partition has. It counts by the number of the last item.
func (d *database) written(ctx context.Context, partition int) (int, error) {
	query := d.query(partition)
	query.ScanIndexForward, query.Limit = aws.Bool(false), aws.Int32(1)
	out, err := d.server.Client().Query(ctx, query)
	if err != nil {
		return 0, fmt.Errorf("read the last item of partition %d: %w", partition, err)
	}
	if len(out.Items) == 0 {
		return 0, nil
	}
	r, err := decodeRow(out.Items[0])
	return r.item + 1, err
}

func (d *database) query(partition int) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName: &d.table, ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("pk = :pk"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": text(itemsKey(partition))},
	}
}

func decodeRow(item map[string]types.AttributeValue) (r row, err error) {
	sk, _ := item["sk"].(*types.AttributeValueMemberS)
	process, _ := item["process"].(*types.AttributeValueMemberS)
	times, _ := item["times"].(*types.AttributeValueMemberN)
	epoch, _ := item["epoch"].(*types.AttributeValueMemberN)
	if sk == nil || process == nil || times == nil || epoch == nil {
		return r, fmt.Errorf("an attribute is missing: %v", item)
	}
	r.process = process.Value
	if _, err := fmt.Sscanf(sk.Value, "I#%d", &r.item); err != nil {
		return r, fmt.Errorf("read the key %q: %w", sk.Value, err)
	}
	if r.times, err = strconv.Atoi(times.Value); err != nil {
		return r, err
	}
	r.epoch, err = strconv.ParseInt(epoch.Value, 10, 64)
	return r, err
}
