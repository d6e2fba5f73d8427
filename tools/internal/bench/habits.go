package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// kinesisInFlight is the number of renewals that Kinesis's client library sends at a time.
const kinesisInFlight = 20

// updateEach is the habit of Kinesis's client library. It renews each lease by an UpdateItem that
// increments a counter, on the condition that owner and counter are unchanged, 20 at a time.
func updateEach(ctx context.Context, f *fleet) ([]round, error) {
	counters := make([]int64, f.leases) // each is used by one node only
	var rows []map[string]types.AttributeValue
	for partition := range f.leases {
		row := key("K#"+f.group, partitionKey(partition))
		row["leaseOwner"] = text(f.ownerOf(partition))
		row["leaseCounter"] = number(0)
		row["ownerSwitchesSinceCheckpoint"] = number(0)
		row["checkpoint"] = text("49590338271490256608559692538361571095921575989136588898")
		row["checkpointSubSequenceNumber"] = number(0)
		rows = append(rows, row)
	}
	renew := func(ctx context.Context, partition int) error {
		next := counters[partition] + 1
		out, err := f.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName:           aws.String(f.table),
			Key:                 key("K#"+f.group, partitionKey(partition)),
			UpdateExpression:    aws.String("SET leaseCounter = :next"),
			ConditionExpression: aws.String("leaseCounter = :seen AND leaseOwner = :me"),
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":next": number(next), ":seen": number(next - 1), ":me": text(f.ownerOf(partition)),
			},
			ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		})
		if err != nil {
			return err
		}
		f.meter.write(out.ConsumedCapacity)
		counters[partition] = next
		return nil
	}
	return f.eachNode(func(partitions []int) round {
		return func(ctx context.Context) error {
			return rowstore.Parallel(len(partitions), kinesisInFlight, func(i int) error { return renew(ctx, partitions[i]) })
		}
	}), f.seed(ctx, rows)
}

// getAndPutEach is the habit of lock clients. It reads each lease and writes it with a new version
// number, on the condition that the last one is still there, one lease after the other.
func getAndPutEach(ctx context.Context, f *fleet) ([]round, error) {
	versions := make([]string, f.leases) // each is used by one node only
	var rows []map[string]types.AttributeValue
	lock := func(partition int) map[string]types.AttributeValue {
		row := key("D#"+f.group, partitionKey(partition))
		row["ownerName"] = text(f.ownerOf(partition))
		row["leaseDuration"] = text(fmt.Sprint(ttl.Milliseconds()))
		row["recordVersionNumber"] = text(uuid.NewString())
		row["lookupTime"] = number(time.Now().UnixMilli())
		return row
	}
	for partition := range f.leases {
		rows = append(rows, lock(partition))
		versions[partition] = versionOf(rows[partition])
	}
	renew := func(ctx context.Context, partition int) error {
		found, err := f.client.GetItem(ctx, &dynamodb.GetItemInput{
			TableName: aws.String(f.table), Key: key("D#"+f.group, partitionKey(partition)), ConsistentRead: aws.Bool(true),
			ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		})
		if err != nil {
			return err
		}
		f.meter.read(found.ConsumedCapacity)
		row := lock(partition)
		out, err := f.client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String(f.table), Item: row,
			ConditionExpression:       aws.String("recordVersionNumber = :seen"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":seen": text(versions[partition])},
			ReturnConsumedCapacity:    types.ReturnConsumedCapacityTotal,
		})
		if err != nil {
			return err
		}
		f.meter.write(out.ConsumedCapacity)
		versions[partition] = versionOf(row)
		return nil
	}
	return f.eachNode(func(partitions []int) round {
		return func(ctx context.Context) error {
			for _, partition := range partitions {
				if err := renew(ctx, partition); err != nil {
					return err
				}
			}
			return nil
		}
	}), f.seed(ctx, rows)
}

func versionOf(lock map[string]types.AttributeValue) string {
	return lock["recordVersionNumber"].(*types.AttributeValueMemberS).Value
}
