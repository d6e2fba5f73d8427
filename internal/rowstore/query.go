package rowstore

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynamolease/dynamolease/internal/request"
)

// A Range is the rows of one partition key, or those between two of its sort keys.
type Range struct {
	PK, First, Last string

	// Eventual has them read eventually consistent, for half the units: a row that was just written may
	// be missing, or be there as it was before.
	Eventual bool
}

// Query reads all rows of a range, page by page, in the order of their sort
// keys. Without a budget each page has the patience of a call of its own, so that a large group is
// not given up half read. The answer is that of the last page.
func Query[R any](ctx context.Context, t *Table, r Range, budget *request.Budget, ttl time.Duration, decode func(Item) (R, error)) ([]R, request.Answer, error) {
	rows, answer, _, err := query(ctx, t, r, budget, ttl, decode)
	return rows, answer, err
}

// query is Query, and returns the earliest date of a page, too.
func query[R any](ctx context.Context, t *Table, r Range, budget *request.Budget, ttl time.Duration, decode func(Item) (R, error)) (rows []R, answer request.Answer, date time.Time, err error) {
	input := r.Input(t.Name)
	for {
		var page *dynamodb.QueryOutput
		page, answer, err = t.page(ctx, input, budget, ttl)
		if err != nil {
			return nil, answer, date, err
		}
		if date.IsZero() || !answer.Date.IsZero() && answer.Date.Before(date) {
			date = answer.Date
		}
		rows = slices.Grow(rows, len(page.Items))
		for _, item := range page.Items {
			row, err := decode(item)
			if err != nil {
				return nil, answer, date, err
			}
			rows = append(rows, row)
		}
		if len(page.LastEvaluatedKey) == 0 {
			return rows, answer, date, nil
		}
		input.ExclusiveStartKey = page.LastEvaluatedKey
	}
}

func (t *Table) page(ctx context.Context, input *dynamodb.QueryInput, budget *request.Budget, ttl time.Duration) (page *dynamodb.QueryOutput, answer request.Answer, err error) {
	if budget == nil {
		budget = t.Budget(ttl)
	}
	answer, err = t.Repeat(ctx, budget, t.Timeout(ttl), func(ctx context.Context, opt func(*dynamodb.Options)) (err error) {
		page, err = t.Querier.Query(ctx, input, opt)
		return err
	})
	return page, answer, err
}

// A View is rows as they were read, and the moment to judge them by. That moment lies before the
// reading: a row that had not expired then may have been extended since, and a reader that was held
// up would miss that.
type View[R any] struct {
	Rows   []R
	At     Moment
	Answer request.Answer
}

// QueryNow is Query with a moment to judge the rows by. If the store's time is not known, it makes
// cheap reads first, rather than querying a large group twice.
func QueryNow[R any](ctx context.Context, t *Table, r Range, budget *request.Budget, ttl time.Duration, decode func(Item) (R, error)) (View[R], error) {
	patience := budget
	if patience == nil {
		patience = t.Budget(ttl)
	}
	for tries := 0; ; tries++ {
		if err := again(ctx, patience, tries); err != nil {
			return View[R]{}, err
		}
		if _, err := t.AwaitTime(ctx, r.PK, patience, t.Timeout(ttl)); err != nil {
			return View[R]{}, err
		}
		at, ok := t.Time.Moment()
		rows, answer, date, err := query(ctx, t, r, budget, ttl, decode)
		if err != nil {
			return View[R]{}, err
		}
		if ok {
			return View[R]{rows, at.asOf(date), answer}, nil
		}
	}
}

// AwaitTime returns a moment once the store's time is known. Until then it reads a row that is not
// there: that costs half a read unit, and is within the rows that a permission for pk allows.
func (t *Table) AwaitTime(ctx context.Context, pk string, budget *request.Budget, timeout time.Duration) (Moment, error) {
	for tries := 0; ; tries++ {
		if at, ok := t.Time.Moment(); ok {
			return at, nil
		}
		if err := again(ctx, budget, tries); err != nil {
			return Moment{}, err
		}
		if _, _, err := t.Get(ctx, Key{pk, "-"}, budget, timeout); err != nil {
			return Moment{}, err
		}
	}
}

// errNoTime is why a call waits, and at last gives up, when the store answers but its time stays
// unknown.
var errNoTime = errors.New("the store's time is not known: its responses carry no usable Date, or the client does not pass on the options of a call")

// again slows a caller down that reads again and again only because the time is not known, after as
// many reads as that should take.
func again(ctx context.Context, budget *request.Budget, tries int) error {
	const enough = 4 // two that agree, and two that do not
	if tries < enough {
		return nil
	}
	return budget.Again(ctx, errNoTime)
}

// Input returns the request for the first page of the range, strongly consistent.
func (r Range) Input(table string) *dynamodb.QueryInput {
	input := &dynamodb.QueryInput{
		TableName:                 &table,
		ConsistentRead:            aws.Bool(!r.Eventual),
		KeyConditionExpression:    aws.String("#pk = :pk"),
		ExpressionAttributeNames:  map[string]string{"#pk": AttrPK},
		ExpressionAttributeValues: Item{":pk": Text(r.PK)},
	}
	if r.First != "" {
		input.KeyConditionExpression = aws.String("#pk = :pk AND #sk BETWEEN :first AND :last")
		input.ExpressionAttributeNames["#sk"] = AttrSK
		input.ExpressionAttributeValues[":first"] = Text(r.First)
		input.ExpressionAttributeValues[":last"] = Text(r.Last)
	}
	return input
}
