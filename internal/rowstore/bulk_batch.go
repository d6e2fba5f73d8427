package rowstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/internal/request"
)

// A batch changes up to 100 rows of a bulk with one transaction. It is repeated when it was
// throttled or not answered, but not when it was refused or in conflict with another write: of 100
// rows there may always be one that somebody writes. What a batch leaves open is changed row by row.
type batch[R Row[R]] struct {
	bulk   *Bulk[R]
	rows   []*BulkRow[R]
	budget *request.Budget

	sent []*BulkRow[R] // with the latest attempt
	at   Moment        // of the latest attempt
	over bool          // no transaction of these rows is sent any more
}

func (b *batch[R]) run(ctx context.Context) error {
	err := b.bulk.Table.Try(ctx, b.budget, b.bulk.Table.Timeout(b.bulk.TTL), Attempts{
		Enter: b.bulk.enter(b.rows...), Next: b.next, Done: b.done, Refused: b.refused, Unknown: b.unanswered,
		NotDone: func(cause error) { b.over = request.Conflicting(cause) },
	})
	return b.named(err)
}

// next returns a transaction of the rows that can be changed as they were seen.
func (b *batch[R]) next(ctx context.Context) (Send, error) {
	if b.over {
		return nil, nil
	}
	at, err := b.bulk.Table.AwaitTime(ctx, b.rows[0].Key.PK, b.budget, b.bulk.Table.Timeout(b.bulk.TTL))
	if err != nil {
		return nil, err
	}
	b.at, b.sent = at, nil
	var actions []types.TransactWriteItem
	for _, row := range b.rows {
		if !b.bulk.Holds(row.seen.Row, at) {
			continue
		}
		next, err := b.bulk.Next(row.seen.Row, at)
		if err != nil {
			return nil, err
		}
		next = next.WithRev(uuid.NewString())
		row.attempts = append(row.attempts, Pending[R]{next, at, b.bulk.By})
		b.sent = append(b.sent, row)
		actions = append(actions, types.TransactWriteItem{
			Update: b.bulk.Table.Update(row.Key, row.seen.RevIn(next, b.bulk.By), next.Attributes()),
		})
	}
	if len(actions) == 0 {
		return nil, nil
	}
	return b.bulk.Table.Transact(actions), nil
}

func (b *batch[R]) done(answer request.Answer) {
	for _, row := range b.sent {
		row.Applied, row.Answer = &row.attempts[len(row.attempts)-1], answer
	}
}

func (b *batch[R]) unanswered() {
	for _, row := range b.sent {
		a := row.attempts[len(row.attempts)-1]
		row.unknown = true
		row.seen.Add(a.Row, a.At, a.By)
	}
}

// refused takes in the rows that a cancelled transaction brought along. It fails on a reason that
// trying again does not mend.
func (b *batch[R]) refused(_ context.Context, answer request.Answer, refusal error) (wait bool, err error) {
	b.over = true
	for i, reason := range b.reasons(refusal) {
		switch request.ClassifyReason(reason) {
		case request.Failed:
			return false, refusal
		case request.Refused:
			var found Parsed[R]
			if len(reason.Item) > 0 {
				found.Row, found.Err = b.bulk.Decode(reason.Item)
			}
			b.sent[i].Answer = answer
			b.bulk.see(b.sent[i], found, b.at)
		}
	}
	return false, nil
}

// reasons returns what a cancelled transaction says of the rows that were sent; nil where it does
// not.
func (b *batch[R]) reasons(err error) []types.CancellationReason {
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) || len(cancelled.CancellationReasons) != len(b.sent) {
		return nil
	}
	return cancelled.CancellationReasons
}

// named names the row for which a transaction could not be done, where there is one.
func (b *batch[R]) named(err error) error {
	for i, reason := range b.reasons(err) {
		if request.ClassifyReason(reason) == request.Failed {
			return fmt.Errorf("%s: %s: %s: %w", b.sent[i].Key.SK, aws.ToString(reason.Code), aws.ToString(reason.Message), err)
		}
	}
	return err
}
