package request

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// A Report is what became of one attempt, for who counts them.
type Report struct {
	Operation string // of DynamoDB, such as "UpdateItem"
	Outcome   Outcome
	Took      time.Duration
	Units     float64 // that the store says it has consumed; zero where it does not say
	Err       error
}

// OnReport has report called after each attempt, from the goroutine that made it, and has the store asked for what each
// consumed. It is to be called before the first attempt.
func (s *Sender) OnReport(report func(context.Context, Report)) { s.report = report }

// measure notes the operation of an attempt, and what it consumed.
func (s *Sender) measure(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
	answer, _ := ctx.Value(answerKey{}).(*Answer)
	if answer == nil {
		return next.HandleInitialize(ctx, in)
	}
	answer.operation = middleware.GetOperationName(ctx)
	askForUnits(in.Parameters)
	out, metadata, err := next.HandleInitialize(ctx, in)
	if err == nil {
		answer.units = Units(out.Result)
	}
	return out, metadata, err
}

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

// Units are what the output of an operation says that it consumed; zero where it does not say.
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
