package examples_test

import (
	"context"
	"fmt"
	"log"
	"strconv"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// Each of four partitions has ten orders. Each order is counted exactly once, whichever node works
// its partition, and whatever happens in between: one transaction writes the count and the
// checkpoint, and only the holder can make it.
func Example_partitions() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	store, err := dynamolease.New(client, "leases")
	if err != nil {
		log.Fatal(err)
	}
	var finished atomic.Int32
	// handle works one partition; ctx ends when this node does not own it any more.
	handle := func(ctx context.Context, assignment coordinator.Assignment) error {
		next, _ := strconv.Atoi(string(assignment.Checkpoint)) // where the last owner got to
		for ; next < 10 && ctx.Err() == nil; next++ {
			checkpoint := []byte(strconv.Itoa(next + 1))
			if err := store.Transact(ctx, assignment.Lease, checkpoint, count(assignment.Partition)); err != nil {
				return err // the handler is called again, from the checkpoint as it is then
			}
		}
		if finished.Add(1) == 4 {
			stop()
		}
		return nil
	}
	err = coordinator.Run(ctx, store, coordinator.Config{
		Service: "shop", Node: "node-1", Address: "10.0.0.7:8080",
		Groups: []coordinator.Group{{Name: "orders", Partitions: 4, Handler: handle}},
	})
	if err != nil {
		log.Fatal(err)
	}
	for partition := range 4 {
		fmt.Println("partition", partition, "has counted", counted(partition))
	}
	// Output:
	// partition 0 has counted 10
	// partition 1 has counted 10
	// partition 2 has counted 10
	// partition 3 has counted 10
}

// count returns a write that must happen once: it adds one. It may be in any table; here it is in
// the table of the leases.
func count(partition int) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: aws.String("leases"), Key: counter(partition),
		UpdateExpression:          aws.String("ADD orders :one"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
	}}
}

func counter(partition int) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: "counter"},
		"sk": &types.AttributeValueMemberS{Value: strconv.Itoa(partition)},
	}
}

func counted(partition int) string {
	out, err := client.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: aws.String("leases"), Key: counter(partition)})
	if err != nil {
		log.Fatal(err)
	}
	return out.Item["orders"].(*types.AttributeValueMemberN).Value
}
