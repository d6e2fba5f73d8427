package demo

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease"
)

const (
	service = "demo" // of the members
	group   = "demo" // of the leases

	resultsKey   = "R#" + group
	partitionKey = "P#%010d"

	conflictDelay = 20 * time.Millisecond
)

// A result is what was counted of one partition, and who did it under which epoch.
type result struct {
	partition int
	tally     tally
	owner     string
	epoch     int64
}

func (r result) by(lease dynamolease.Lease) bool {
	return r.owner == lease.Owner && r.epoch == lease.Epoch
}

type row = map[string]types.AttributeValue

// results are the rows with the results, in the table of the leases: one transaction can then check a lease and write.
type results struct {
	client *dynamodb.Client
	table  string
}

// An outcome is what became of a result.
type outcome int

const (
	unsettled outcome = iota // an error says why
	stored                   // it is in the table
	present                  // another result was there before
	taken                    // it was turned away, since the lease is another's
)

// write stores a result on the condition that the worker still holds its lease, and that there is none yet.
func (r *results) write(ctx context.Context, lease dynamolease.Lease, t tally) (outcome, error) {
	for {
		_, err := r.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
			TransactItems: []types.TransactWriteItem{leaseCheck(r.table, lease), r.put(lease, t)},
		})
		done, err := r.judge(ctx, lease, err)
		if done != unsettled || err != nil {
			return done, err
		}
		select {
		case <-ctx.Done():
			return unsettled, context.Cause(ctx)
		case <-time.After(conflictDelay):
		}
	}
}

// leaseCheck is the action that lets a transaction through only while lease has not been taken by anybody else. It needs
// no clock: whoever takes a lease raises its epoch.
func leaseCheck(table string, lease dynamolease.Lease) types.TransactWriteItem {
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName:                &table,
		Key:                      row{"pk": text("L#" + lease.Group), "sk": text(fmt.Sprintf(partitionKey, lease.Partition))},
		ConditionExpression:      aws.String("#owner = :owner AND #epoch = :epoch"),
		ExpressionAttributeNames: map[string]string{"#owner": "owner", "#epoch": "epoch"},
		ExpressionAttributeValues: row{
			":owner": text(lease.Owner),
			":epoch": number(lease.Epoch),
		},
	}}
}

func (r *results) put(lease dynamolease.Lease, t tally) types.TransactWriteItem {
	item := resultKey(lease.Partition)
	item["words"], item["files"] = number(int64(t.words)), number(int64(t.files))
	item["owner"], item["epoch"] = text(lease.Owner), number(lease.Epoch)
	return types.TransactWriteItem{Put: &types.Put{
		TableName:                           &r.table,
		Item:                                item,
		ConditionExpression:                 aws.String("attribute_not_exists(pk)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

// judge tells what became of a write from its error. Unsettled without an error means: try again.
func (r *results) judge(ctx context.Context, lease dynamolease.Lease, err error) (outcome, error) {
	var cancelled *types.TransactionCanceledException
	switch {
	case err == nil:
		return stored, nil
	case errors.As(err, &cancelled) && len(cancelled.CancellationReasons) == 2:
		return r.judgeReasons(lease, cancelled.CancellationReasons, err)
	case ctx.Err() != nil:
		return unsettled, context.Cause(ctx)
	}
	// Nothing tells whether it was written: look. A write that still arrives after that finds the next attempt's row,
	// or the next attempt finds its.
	return r.look(ctx, lease, err)
}

// judgeReasons goes through the reasons of a cancelled transaction: the first is the lease's, the second the result's.
func (r *results) judgeReasons(lease dynamolease.Lease, reasons []types.CancellationReason, err error) (outcome, error) {
	const failed = "ConditionalCheckFailed"
	switch {
	case aws.ToString(reasons[1].Code) == failed:
		return r.compare(lease, reasons[1].Item)
	case aws.ToString(reasons[0].Code) == failed:
		return taken, nil
	}
	for _, reason := range reasons {
		switch aws.ToString(reason.Code) {
		case "", "None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded":
		default:
			return unsettled, fmt.Errorf("write the result of %d: %w", lease.Partition, err)
		}
	}
	return unsettled, nil
}

// compare tells whose result is there: an earlier attempt's, whose answer was lost, or another worker's.
func (r *results) compare(lease dynamolease.Lease, item row) (outcome, error) {
	there, err := decodeResult(item)
	switch {
	case err != nil:
		return unsettled, err
	case there.by(lease):
		return stored, nil
	default:
		return present, nil
	}
}

func (r *results) look(ctx context.Context, lease dynamolease.Lease, cause error) (outcome, error) {
	out, err := r.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &r.table, Key: resultKey(lease.Partition), ConsistentRead: aws.Bool(true),
	})
	switch {
	case err != nil:
		return unsettled, fmt.Errorf("write the result of %d: %w", lease.Partition, errors.Join(cause, err))
	case len(out.Item) == 0:
		return unsettled, nil
	default:
		return r.compare(lease, out.Item)
	}
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

func resultKey(partition int) row {
	return row{"pk": text(resultsKey), "sk": text(fmt.Sprintf(partitionKey, partition))}
}

func decodeResult(item row) (result, error) {
	var res result
	var numbers [3]int64
	sk, ok := item["sk"].(*types.AttributeValueMemberS)
	owner, owned := item["owner"].(*types.AttributeValueMemberS)
	if !ok || !owned {
		return res, errors.New("read a result: sk or owner is not a string")
	}
	if _, err := fmt.Sscanf(sk.Value, "P#%d", &res.partition); err != nil {
		return res, fmt.Errorf("read a result: sk %q: %w", sk.Value, err)
	}
	for i, name := range []string{"words", "files", "epoch"} {
		value, ok := item[name].(*types.AttributeValueMemberN)
		if !ok {
			return res, fmt.Errorf("read the result of %d: %s is not a number", res.partition, name)
		}
		n, err := strconv.ParseInt(value.Value, 10, 64)
		if err != nil {
			return res, fmt.Errorf("read the result of %d: %s: %w", res.partition, name, err)
		}
		numbers[i] = n
	}
	res.tally = tally{words: int(numbers[0]), files: int(numbers[1])}
	res.owner, res.epoch = owner.Value, numbers[2]
	return res, nil
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}
