package rowstore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/internal/request"
)

// A batch changes up to 100 rows of a bulk with one transaction. A transaction does all or nothing,
// so one row that was lost cancels the others: the cancellation says what became of each, and the
// rest is sent again at once.
type batch[R Row[R]] struct {
	bulk   *Bulk[R]
	rows   []*BulkRow[R]
	budget *request.Budget

	at   Moment        // of the latest attempt
	sent []*BulkRow[R] // with the latest attempt
}

func (b *batch[R]) run(ctx context.Context) error {
	err := b.budget.Spent()
	if err != nil {
		return err
	}
	err = b.bulk.Table.Try(ctx, b.budget, b.bulk.Table.Timeout(b.bulk.TTL), Attempts{
		Next: b.next, Done: b.done, Refused: b.refused, Unknown: b.unanswered,
	})
	if err != nil && slices.ContainsFunc(b.rows, func(r *BulkRow[R]) bool { return r.Open() && r.unknown }) {
		return fmt.Errorf("%w: %w", ErrUnknownOutcome, b.named(err))
	}
	return b.named(err)
}

// next returns a transaction of the rows that are still to be changed.
func (b *batch[R]) next(ctx context.Context) (Send, error) {
	at, err := b.look(ctx)
	if err != nil {
		return nil, err
	}
	b.at, b.sent = at, b.open(at)
	if len(b.sent) == 0 {
		return nil, nil
	}
	actions := make([]types.TransactWriteItem, len(b.sent))
	for i, row := range b.sent {
		next, err := b.bulk.Next(row.seen.Row, at)
		if err != nil {
			return nil, err
		}
		next = next.WithRev(uuid.NewString())
		row.attempts = append(row.attempts, Pending[R]{next, at, b.bulk.By})
		actions[i].Update = b.bulk.Table.Update(row.Key, row.seen.RevIn(next, b.bulk.By), next.Attributes())
	}
	return b.bulk.Table.Transact(actions), nil
}

// look returns the moment of the next attempt. It reads the rows where that cannot be decided
// otherwise: a node that was suspended does not know the store's time, and a row that is lost by
// now may have been changed by an attempt that was not answered, or by anybody since it was seen.
func (b *batch[R]) look(ctx context.Context) (Moment, error) {
	for tries := 0; ; tries++ {
		if err := again(ctx, b.budget, tries); err != nil {
			return Moment{}, err
		}
		at, ok := b.bulk.Table.Time.Moment()
		doubtful := slices.DeleteFunc(slices.Clone(b.rows), func(r *BulkRow[R]) bool {
			return !r.Open() || ok && (b.bulk.Holds(r.seen.Row, at) || len(r.seen.Pending) == 0 && b.over(r))
		})
		if err := b.bulk.readAll(ctx, doubtful, b.budget); err != nil {
			return at, err
		}
		if ok {
			return at, nil
		}
	}
}

// over reports whether a row was lost already when it was read.
func (b *batch[R]) over(r *BulkRow[R]) bool {
	return r.read != nil && !b.bulk.Holds(r.seen.Row, *r.read)
}

// open returns the rows that are still to be changed; those that are not there by now are lost.
func (b *batch[R]) open(at Moment) []*BulkRow[R] {
	var open []*BulkRow[R]
	for _, row := range b.rows {
		row.Lost = row.Lost || row.Open() && !b.bulk.Holds(row.seen.Row, at)
		if row.Open() {
			open = append(open, row)
		}
	}
	return open
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

// refused goes through the reasons of a cancelled transaction, each row with its own. It has the
// batch wait where the store was busy, and fails on a reason that trying again does not mend.
func (b *batch[R]) refused(_ context.Context, answer request.Answer, refusal error) (wait bool, err error) {
	reasons := b.reasons(refusal)
	if reasons == nil {
		return false, refusal
	}
	busy, progress := false, false
	for i, reason := range reasons {
		switch request.ClassifyReason(reason) {
		case request.Refused:
			progress = true
			b.seeRefused(b.sent[i], reason.Item, answer)
		case request.NotDone:
			busy = true
		case request.Failed:
			return false, refusal
		}
	}
	return busy || !progress, nil
}

func (b *batch[R]) seeRefused(row *BulkRow[R], current Item, answer request.Answer) {
	var found Parsed[R]
	if len(current) > 0 {
		found.Row, found.Err = b.bulk.Decode(current)
	}
	row.Answer = answer
	b.bulk.see(row, found, b.at)
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
