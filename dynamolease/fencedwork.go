package dynamolease

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/internal/request"
)

// A fencedWork is one call of Transact or Checkpoint. Unlike other writes, an attempt does not accept the row as an
// earlier one would have left it: then the items would be applied twice. Each is conditional on the row as it was seen,
// and whether an earlier attempt was applied shows in the row's work, which only work under the lease changes.
type fencedWork struct {
	store      *Store
	lease      Lease
	key        key
	checkpoint []byte // nil to leave it as it is
	items      []types.TransactWriteItem
	budget     *request.Budget

	row      leaseRow
	before   string   // the row's work before the first attempt
	attempts []string // the work that the attempts would have left
	open     []string // those of them that were never answered
	done     bool     // one was applied
}

// look takes the row from the store's memory, or reads it.
func (w *fencedWork) look(ctx context.Context) error {
	if seen, ok := w.store.leases.recall(w.key); ok && w.lease.covers(seen.row) && len(seen.unanswered) == 0 {
		w.row = seen.row
	} else if err := w.read(ctx); err != nil {
		return err
	}
	w.before = w.row.work
	return nil
}

// try makes one attempt, unless an earlier one was applied or the lease is not held any more.
func (w *fencedWork) try(ctx context.Context) error {
	if w.done = w.applied(); w.done {
		return nil
	}
	if !w.lease.covers(w.row) {
		return w.lease.fenced(w.row)
	}
	next := w.row
	next.rev = uuid.NewString()
	next.work = next.rev
	if w.checkpoint != nil {
		next.checkpoint = w.checkpoint
	}
	w.attempts = append(w.attempts, next.work)
	outcome, err := w.send(ctx, next)
	switch outcome {
	case request.Done:
		w.row, w.done = next, true
		return nil
	case request.Refused:
		row, came := refusedItem(err)
		if !came {
			return err // a condition of an item
		}
		return w.see(row)
	case request.Unknown:
		w.open = append(w.open, next.work)
		return w.budget.Again(ctx, err)
	case request.NotDone:
		return w.budget.Again(ctx, err)
	default:
		return err
	}
}

// send writes the row and the items. What the lease's row says otherwise stays as it is.
func (w *fencedWork) send(ctx context.Context, next leaseRow) (request.Outcome, error) {
	attributes := []attribute{{attrRev, stringValue(next.rev)}, {attrWork, stringValue(next.work)}}
	switch {
	case w.checkpoint == nil:
	case len(w.checkpoint) == 0:
		attributes = append(attributes, attribute{attrCheckpoint, nil})
	default:
		attributes = append(attributes, attribute{attrCheckpoint, &types.AttributeValueMemberB{Value: w.checkpoint}})
	}
	seen := condition{w.key, []string{w.row.rev}}
	timeout := w.budget.Timeout(w.store.timeout(0))
	if len(w.items) == 0 {
		_, outcome, err := w.store.write(ctx, rowWrite{condition: seen, attributes: attributes}, timeout)
		return outcome, err
	}
	input := &dynamodb.TransactWriteItemsInput{TransactItems: append([]types.TransactWriteItem{
		{Update: w.store.update(seen, attributes)},
	}, w.items...)}
	_, outcome, err := w.store.sender.Do(ctx, timeout, func(ctx context.Context, opt func(*dynamodb.Options)) error {
		_, err := w.store.client.TransactWriteItems(ctx, input, opt)
		return err
	})
	return outcome, err
}

// applied tells whether the row shows that an attempt was applied.
func (w *fencedWork) applied() bool { return slices.Contains(w.attempts, w.row.work) }

func (w *fencedWork) read(ctx context.Context) error {
	row, _, err := w.store.get(ctx, w.key, w.budget, w.store.timeout(0))
	if err != nil {
		return err
	}
	return w.see(row)
}

func (w *fencedWork) see(row item) error {
	w.row = leaseRow{}
	if len(row) > 0 {
		var err error
		if w.row, err = decodeLease(row); err != nil {
			return err
		}
	}
	return nil
}
