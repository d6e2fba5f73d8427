package dynamolease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/internal/request"
)

const (
	maxTransaction       = 100 // DynamoDB's own limit of actions
	transactionsInFlight = 16
	itemsInFlight        = 32
)

// A batch changes up to 100 leases of a bulk with one transaction. A transaction does all or nothing, so one lease that
// was lost cancels the others: the cancellation says what became of each, and the rest is sent again at once.
type batch struct {
	bulk    *bulk
	items   []*bulkItem
	budget  *request.Budget
	timeout time.Duration
}

func (b *batch) run(ctx context.Context) error {
	if err := b.budget.Spent(); err != nil {
		return err
	}
	for {
		at, err := b.look(ctx)
		if err != nil {
			return b.fail(err)
		}
		open := b.open(at)
		if len(open) == 0 {
			return nil
		}
		again, err := b.try(ctx, open, at)
		if err != nil {
			return b.fail(err)
		}
		if !again {
			return nil
		}
	}
}

// look is the moment of the next attempt. The rows are read where this cannot be decided without: a node that was
// suspended does not know the store's time, and a lease that is not there any more by now may have been changed by an
// attempt that was not answered, or by anybody since it was seen.
func (b *batch) look(ctx context.Context) (moment, error) {
	for tries := 0; ; tries++ {
		if err := again(ctx, b.budget, tries); err != nil {
			return moment{}, err
		}
		at, ok := b.bulk.store.timing.moment()
		doubtful := slices.DeleteFunc(slices.Clone(b.items), func(i *bulkItem) bool {
			return !i.open() || ok && (b.bulk.holds(i.seen.row, at) || len(i.seen.unanswered) == 0 && b.bulk.over(i))
		})
		if err := b.bulk.read(ctx, doubtful, b.budget); err != nil {
			return at, err
		}
		if ok {
			return at, nil
		}
	}
}

// over tells whether a lease was not there any more when its row was read.
func (b *bulk) over(i *bulkItem) bool { return i.read != nil && !b.holds(i.seen.row, *i.read) }

// open are the leases that are still to be changed; those that are not there any more by now are lost.
func (b *batch) open(at moment) []*bulkItem {
	var open []*bulkItem
	for _, item := range b.items {
		item.lost = item.lost || item.open() && !b.bulk.holds(item.seen.row, at)
		if item.open() {
			open = append(open, item)
		}
	}
	return open
}

// try sends one transaction, and reports whether there must be another.
func (b *batch) try(ctx context.Context, open []*bulkItem, at moment) (again bool, err error) {
	input, err := b.input(open, at)
	if err != nil {
		return false, err
	}
	answer, outcome, err := b.bulk.store.sender.Do(ctx, b.budget.Timeout(b.timeout), func(ctx context.Context, opt func(*dynamodb.Options)) error {
		_, err := b.bulk.store.client.TransactWriteItems(ctx, input, opt)
		return err
	})
	switch outcome {
	case request.Done:
		for _, item := range open {
			item.applied, item.answer = &item.attempts[len(item.attempts)-1], answer
		}
		return false, nil
	case request.Refused:
		return true, b.cancelled(ctx, open, answer, at, err)
	case request.Unknown:
		for _, item := range open {
			item.unknown = true
			item.seen.add(item.attempts[len(item.attempts)-1].row, b.bulk.holder)
		}
		return true, b.budget.Again(ctx, err)
	case request.NotDone:
		return true, b.budget.Again(ctx, err)
	default:
		return false, b.failed(open, err)
	}
}

// input is always a new one: the SDK writes its idempotency token back into the input, and DynamoDB answers a repeated
// token with success without writing anything.
func (b *batch) input(open []*bulkItem, at moment) (*dynamodb.TransactWriteItemsInput, error) {
	actions := make([]types.TransactWriteItem, len(open))
	for i, item := range open {
		next, err := b.bulk.next(item.seen.row, at)
		if err != nil {
			return nil, err
		}
		next.rev = uuid.NewString()
		item.attempts = append(item.attempts, attempt[leaseRow]{next, at})
		actions[i].Update = b.bulk.store.update(condition{item.key, item.seen.accepted(next, b.bulk.holder)}, next.attributes())
	}
	return &dynamodb.TransactWriteItemsInput{TransactItems: actions}, nil
}

// cancelled goes through the reasons of a cancelled transaction, each lease by its own. It waits where the store was
// busy, and fails on a reason that trying again does not mend.
func (b *batch) cancelled(ctx context.Context, open []*bulkItem, answer request.Answer, at moment, err error) error {
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) || len(cancelled.CancellationReasons) != len(open) {
		return err
	}
	busy, progress := false, false
	for i, reason := range cancelled.CancellationReasons {
		switch request.ClassifyReason(reason) {
		case request.Refused:
			progress = true
			b.refused(open[i], reason.Item, answer, at)
		case request.NotDone:
			busy = true
		case request.Failed:
			return b.failed(open, err)
		}
	}
	if busy || !progress {
		return b.budget.Again(ctx, err)
	}
	return nil
}

// failed names the lease for which a transaction could not be done, where there is one.
func (b *batch) failed(open []*bulkItem, err error) error {
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) || len(cancelled.CancellationReasons) != len(open) {
		return err
	}
	for i, reason := range cancelled.CancellationReasons {
		if request.ClassifyReason(reason) == request.Failed {
			return fmt.Errorf("%s: %s: %s: %w", open[i].key.sk, aws.ToString(reason.Code), aws.ToString(reason.Message), err)
		}
	}
	return err
}

func (b *batch) refused(item *bulkItem, current item, answer request.Answer, at moment) {
	var found parsed[leaseRow]
	if len(current) > 0 {
		found.row, found.err = decodeLease(current)
	}
	item.answer = answer
	b.bulk.see(item, found, at)
}

// fail ends the batch; what may still be applied is in the items, and goes into the store's memory from there.
func (b *batch) fail(err error) error {
	if slices.ContainsFunc(b.items, func(i *bulkItem) bool { return i.open() && i.unknown }) {
		return fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
	}
	return err
}
