package dynamolease

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/internal/request"
)

// A rowRange is the rows of one partition key, or those between two of its sort keys.
type rowRange struct{ pk, first, last string }

// query reads all rows of a range, strongly consistent, page by page, in the order of their sort keys. Without a budget
// each page has the patience of a call of its own, so that a large group is not given up half read.
func query[R any](ctx context.Context, s *Store, r rowRange, budget *request.Budget, ttl time.Duration, decode func(item) (R, error)) ([]R, request.Answer, error) {
	input := r.input(s.table)
	var rows []R
	for {
		page, answer, err := s.page(ctx, input, budget, ttl)
		if err != nil {
			return nil, answer, err
		}
		rows = slices.Grow(rows, len(page.Items))
		for _, item := range page.Items {
			row, err := decode(item)
			if err != nil {
				return nil, answer, err
			}
			rows = append(rows, row)
		}
		if len(page.LastEvaluatedKey) == 0 {
			return rows, answer, nil
		}
		input.ExclusiveStartKey = page.LastEvaluatedKey
	}
}

func (s *Store) page(ctx context.Context, input *dynamodb.QueryInput, budget *request.Budget, ttl time.Duration) (page *dynamodb.QueryOutput, answer request.Answer, err error) {
	if budget == nil {
		budget = s.budget(ttl)
	}
	answer, err = s.repeat(ctx, budget, s.timeout(ttl), func(ctx context.Context, opt func(*dynamodb.Options)) (err error) {
		page, err = s.client.Query(ctx, input, opt)
		return err
	})
	return page, answer, err
}

// A view is rows as they were read, and the moment to judge them by. That is from before they were read: what had not
// expired then may have been extended since, and would be missed by a reader that was held up.
type view[R any] struct {
	rows   []R
	at     moment
	answer request.Answer
}

// queryNow is query with a moment to judge the rows by. A store that does not know the time makes cheap reads first,
// rather than to query a large group twice.
func queryNow[R any](ctx context.Context, s *Store, r rowRange, budget *request.Budget, ttl time.Duration, decode func(item) (R, error)) (view[R], error) {
	patience := budget
	if patience == nil {
		patience = s.budget(ttl)
	}
	for tries := 0; ; tries++ {
		if err := again(ctx, patience, tries); err != nil {
			return view[R]{}, err
		}
		if err := s.awaitTime(ctx, r.pk, patience, s.timeout(ttl)); err != nil {
			return view[R]{}, err
		}
		at, ok := s.timing.moment()
		rows, answer, err := query(ctx, s, r, budget, ttl, decode)
		if err != nil {
			return view[R]{}, err
		}
		if ok {
			return view[R]{rows, at, answer}, nil
		}
	}
}

// awaitTime reads a row that is not there until the store's time is known: it costs half a read unit, and is within the
// rows that a permission for pk allows.
func (s *Store) awaitTime(ctx context.Context, pk string, budget *request.Budget, timeout time.Duration) error {
	for tries := 0; ; tries++ {
		if _, ok := s.timing.moment(); ok {
			return nil
		}
		if err := again(ctx, budget, tries); err != nil {
			return err
		}
		if _, _, err := s.get(ctx, key{pk, "-"}, budget, timeout); err != nil {
			return err
		}
	}
}

// errNoTime is why a call waits, and at last gives up, when the store answers but its time does not get known.
var errNoTime = errors.New("the store's time is not known: its responses carry no usable Date, or the client does not pass on the options of a call")

// again holds up who reads again and again only for want of the time, after as many reads as it should take.
func again(ctx context.Context, budget *request.Budget, tries int) error {
	const enough = 4 // two that agree, and two that do not
	if tries < enough {
		return nil
	}
	return budget.Again(ctx, errNoTime)
}

func (r rowRange) input(table string) *dynamodb.QueryInput {
	input := &dynamodb.QueryInput{
		TableName:                 &table,
		ConsistentRead:            aws.Bool(true),
		KeyConditionExpression:    aws.String("#pk = :pk"),
		ExpressionAttributeNames:  map[string]string{"#pk": attrPK},
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": stringValue(r.pk)},
	}
	if r.first != "" {
		input.KeyConditionExpression = aws.String("#pk = :pk AND #sk BETWEEN :first AND :last")
		input.ExpressionAttributeNames["#sk"] = attrSK
		input.ExpressionAttributeValues[":first"] = stringValue(r.first)
		input.ExpressionAttributeValues[":last"] = stringValue(r.last)
	}
	return input
}
