package demo

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	resultsKey   = "R#" + group
	partitionKey = "P#%010d"
)

// A result is what was counted of one partition, and who did it under which epoch.
type result struct {
	partition int
	tally     tally
	owner     string
	epoch     int64
}

type row = map[string]types.AttributeValue

func (r result) row() row {
	item := resultKey(r.partition)
	item["words"], item["files"] = number(int64(r.tally.words)), number(int64(r.tally.files))
	item["owner"], item["epoch"] = text(r.owner), number(r.epoch)
	return item
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
