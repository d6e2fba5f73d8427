package demo

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	resultsKey   = "R#" + group
	partitionKey = "P#%010d"
)

// A result is the count of one partition so far.
type result struct {
	partition int
	tally     tally
	chunks    []chunk // in the order of their additions; at least one
	complete  bool
}

// results are the rows with the results. They could be in any table of the account and Region.
type results struct {
	client *dynamodb.Client
	table  string
}

// add returns the update that adds a chunk to the result of a partition. On purpose it must not
// happen twice.
func (r *results) add(partition int, part chunk, complete bool) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &r.table,
		Key:       row{"pk": text(resultsKey), "sk": text(fmt.Sprintf(partitionKey, partition))},
		UpdateExpression: aws.String("ADD words :words, files :files " +
			"SET complete = :complete, chunks = list_append(if_not_exists(chunks, :none), :chunks)"),
		ExpressionAttributeValues: row{
			":words": number(part.Words), ":files": number(part.To - part.From),
			":complete": &types.AttributeValueMemberBOOL{Value: complete},
			":none":     &types.AttributeValueMemberL{},
			":chunks":   &types.AttributeValueMemberL{Value: []types.AttributeValue{text(part.String())}},
		},
	}}
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
			return nil, fmt.Errorf("read a result: %w", err)
		}
		found[res.partition] = res
	}
	return found, nil
}

type row = map[string]types.AttributeValue

func decodeResult(item row) (res result, err error) {
	sk, isText := item["sk"].(*types.AttributeValueMemberS)
	complete, isBool := item["complete"].(*types.AttributeValueMemberBOOL)
	chunks, isList := item["chunks"].(*types.AttributeValueMemberL)
	if !isText || !isBool || !isList || len(chunks.Value) == 0 {
		return res, errors.New("sk, complete or chunks are not there, or not as they must be")
	}
	if _, err := fmt.Sscanf(sk.Value, "P#%d", &res.partition); err != nil {
		return res, fmt.Errorf("decode sk %q: %w", sk.Value, err)
	}
	res.complete = complete.Value
	if res.tally.words, err = decodeNumber(item, "words"); err != nil {
		return res, err
	}
	if res.tally.files, err = decodeNumber(item, "files"); err != nil {
		return res, err
	}
	for _, value := range chunks.Value {
		line, ok := value.(*types.AttributeValueMemberS)
		if !ok {
			return res, errors.New("a chunk is not a string")
		}
		part, err := parseChunk(line.Value)
		if err != nil {
			return res, err
		}
		res.chunks = append(res.chunks, part)
	}
	return res, nil
}

func decodeNumber(item row, name string) (int, error) {
	value, ok := item[name].(*types.AttributeValueMemberN)
	if !ok {
		return 0, fmt.Errorf("%s is not a number", name)
	}
	return strconv.Atoi(value.Value)
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.Itoa(n)}
}
