package request

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A Report tells a program that counts requests the outcome of one attempt.
type Report struct {
	Operation string // of DynamoDB, such as "UpdateItem"
	Outcome   Outcome
	Took      time.Duration
	Units     float64 // consumed, as the store reports; zero if it does not
	Err       error
}

// askForUnits makes a request ask the store for the capacity that it consumes.
func askForUnits(input any) {
	const total = types.ReturnConsumedCapacityTotal
	switch input := input.(type) {
	case *dynamodb.GetItemInput:
		input.ReturnConsumedCapacity = total
	case *dynamodb.QueryInput:
		input.ReturnConsumedCapacity = total
	case *dynamodb.ScanInput:
		input.ReturnConsumedCapacity = total
	case *dynamodb.UpdateItemInput:
		input.ReturnConsumedCapacity = total
	case *dynamodb.PutItemInput:
		input.ReturnConsumedCapacity = total
	case *dynamodb.DeleteItemInput:
		input.ReturnConsumedCapacity = total
	case *dynamodb.TransactWriteItemsInput:
		input.ReturnConsumedCapacity = total
	}
}

// Units returns the capacity that an operation consumed, as its output reports; zero if the output
// does not report it.
func Units(output any) float64 {
	var all []types.ConsumedCapacity
	var one *types.ConsumedCapacity
	switch output := output.(type) {
	case *dynamodb.GetItemOutput:
		one = output.ConsumedCapacity
	case *dynamodb.QueryOutput:
		one = output.ConsumedCapacity
	case *dynamodb.ScanOutput:
		one = output.ConsumedCapacity
	case *dynamodb.UpdateItemOutput:
		one = output.ConsumedCapacity
	case *dynamodb.PutItemOutput:
		one = output.ConsumedCapacity
	case *dynamodb.DeleteItemOutput:
		one = output.ConsumedCapacity
	case *dynamodb.TransactWriteItemsOutput:
		all = output.ConsumedCapacity
	}
	if one != nil {
		all = append(all, *one)
	}
	total := 0.0
	for _, capacity := range all {
		if capacity.CapacityUnits != nil {
			total += *capacity.CapacityUnits
		}
	}
	return total
}
