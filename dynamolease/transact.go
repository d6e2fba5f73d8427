package dynamolease

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/internal/request"
)

// Transact writes items (at most 99, of any table of the account and Region, none of them the lease's own row) in one
// transaction, only while nobody else has taken the lease and it was not released. With a checkpoint that is not nil,
// that is written in the same transaction, see [Store.Checkpoint]: work that moves the checkpoint along with its results
// is done exactly once, whatever happens to the process in between.
//
// An answer that was lost is told from a refusal: each transaction leaves an id of its own in the lease's row. So items
// need not be idempotent; they are applied once. One Transact or Checkpoint at a time for a lease; others wait.
//
// The error is a [FencedError] that names the new holder when the lease was taken or released. It wraps the SDK's
// *types.TransactionCanceledException when a condition of an item did not hold; its first reason is the lease's, the
// others are those of items, in order. It wraps [ErrUnknownOutcome] when nothing tells whether the items were written:
// look at them, or at the checkpoint that the next Acquire returns. Other errors: [ArgumentError], [RowError],
// [SetupError], the context's, or the SDK's, after retries for at most 10 seconds.
func (s *Store) Transact(ctx context.Context, lease Lease, checkpoint []byte, items ...types.TransactWriteItem) error {
	if err := firstError(checkLease(lease.Group, lease.Partition, lease.Owner), checkCheckpoint(checkpoint), checkItems(items)); err != nil {
		return s.explain(err, "transact")
	}
	w := &fencedWork{store: s, lease: lease, key: leaseKey(lease.Group, lease.Partition), checkpoint: checkpoint, items: items, budget: s.budget(0)}
	unlock, err := s.working.lock(ctx, w.key)
	if err != nil {
		return s.explain(err, "transact under %s/%d", lease.Group, lease.Partition)
	}
	defer unlock()
	return s.explain(w.run(ctx), "transact under %s/%d", lease.Group, lease.Partition)
}

func checkItems(items []types.TransactWriteItem) error {
	if len(items) >= maxTransaction {
		return &ArgumentError{"items", fmt.Sprintf("are %d, at most %d are allowed", len(items), maxTransaction-1)}
	}
	return nil
}

// A fencedWork is one call of Transact. Unlike other writes, an attempt does not accept the row as an earlier one would
// have left it: then the items would be applied twice. Each is conditional on the row as it was seen, and whether an
// earlier attempt was applied shows in the row's work, which only a transaction of the holder changes.
type fencedWork struct {
	store      *Store
	lease      Lease
	key        key
	checkpoint []byte
	items      []types.TransactWriteItem
	budget     *request.Budget

	row      leaseRow
	attempts []leaseRow
	unknown  bool // an attempt was not answered, and the row was not seen since
}

func (w *fencedWork) run(ctx context.Context) error {
	if seen, ok := w.store.leases.recall(w.key); ok && w.lease.covers(seen.row) && len(seen.unanswered) == 0 {
		w.row = seen.row
	} else if err := w.read(ctx); err != nil {
		return err
	}
	for {
		if done, err := w.try(ctx); done || err != nil {
			return w.finish(err)
		}
	}
}

// try makes one attempt; done tells that one was applied.
func (w *fencedWork) try(ctx context.Context) (done bool, err error) {
	if w.applied() {
		return true, nil
	}
	if !w.lease.covers(w.row) {
		return false, w.lease.fenced(w.row)
	}
	next := w.next()
	w.attempts = append(w.attempts, next)
	input := &dynamodb.TransactWriteItemsInput{TransactItems: append([]types.TransactWriteItem{
		{Update: w.store.update(condition{w.key, []string{w.row.rev}}, next.attributes())},
	}, w.items...)}
	_, outcome, err := w.store.sender.Do(ctx, w.budget.Timeout(w.store.timeout(0)), func(ctx context.Context, opt func(*dynamodb.Options)) error {
		_, err := w.store.client.TransactWriteItems(ctx, input, opt)
		return err
	})
	switch outcome {
	case request.Done:
		w.row = next
		return true, nil
	case request.Refused:
		return false, w.refused(ctx, err)
	case request.Unknown:
		w.unknown = true
		if err := w.budget.Again(ctx, err); err != nil {
			return false, err
		}
		return false, nil
	case request.NotDone:
		return false, w.budget.Again(ctx, err)
	default:
		return false, err
	}
}

// next is the row with this attempt's mark.
func (w *fencedWork) next() leaseRow {
	next := w.row
	next.rev = uuid.NewString()
	next.marked, next.work = true, next.rev
	if w.checkpoint != nil {
		next.checkpoint = bytes.Clone(w.checkpoint)
	}
	return next
}

// applied tells whether the row shows that an attempt was applied.
func (w *fencedWork) applied() bool {
	for _, a := range w.attempts {
		if w.row.work == a.work {
			return true
		}
	}
	return false
}

// refused takes in the row that the refusal brought along. A refusal of the items alone is the caller's matter, unless
// an earlier attempt was never answered: then it may be what that one wrote that is in the way.
func (w *fencedWork) refused(ctx context.Context, err error) error {
	row, came := refusedItem(err)
	if !came {
		var cancelled *types.TransactionCanceledException
		if !w.unknown || !errors.As(err, &cancelled) {
			return err
		}
		if readErr := w.read(ctx); readErr != nil {
			return readErr
		}
		if w.applied() {
			return nil
		}
		return err
	}
	return w.see(row)
}

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
	w.unknown = false
	return nil
}

// finish leaves the row in the store's memory, and says so where the outcome is not known.
func (w *fencedWork) finish(err error) error {
	switch at, ok := w.store.timing.moment(); {
	case w.unknown:
		w.store.leases.forget(w.key)
		return fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
	case err == nil && ok:
		w.store.leases.keep(w.key, sighting[leaseRow]{row: w.row}, at)
	}
	return err
}
