package dynamolease

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Transact writes items (at most 99, of any table of the account and Region, none of them the lease's own row) in one
// transaction, only while nobody else has taken the lease and it was not released. With a checkpoint that is not nil,
// that is written in the same transaction, see [Store.Checkpoint]: work that moves the checkpoint along with its results
// is done exactly once, whatever happens to the process in between.
//
// An answer that was lost is told from a refusal: each transaction leaves an id of its own in the lease's row. So items
// need not be idempotent; they are applied once. One Transact or Checkpoint at a time for a lease; others wait.
//
// It returns nil when the items were written, also when another holder has taken the lease since. The errors:
//
//   - a [FencedError] that names the new holder: the lease was taken or released, and nothing was written;
//   - *types.TransactionCanceledException of the SDK, wrapped: a condition of an item did not hold, and nothing was
//     written; its first reason is the lease's, the others are those of items, in order;
//   - [ErrUnknownOutcome], wrapped, perhaps together with a FencedError: nothing tells whether the items were written, and
//     they may be yet. [Store.Resume] finds out;
//   - [ErrEarlierApplied]: the call before ended with ErrUnknownOutcome, and had been applied; nothing more was written;
//   - [ArgumentError], [RowError], [SetupError], the context's, or the SDK's, after retries for at most 10 seconds:
//     nothing was written.
func (s *Store) Transact(ctx context.Context, lease Lease, checkpoint []byte, items ...types.TransactWriteItem) error {
	return s.explain(s.work(ctx, lease, checkpoint, items), "transact under %s/%d", lease.Group, lease.Partition)
}

// work writes items and a checkpoint under a lease. Those of one lease take turns.
func (s *Store) work(ctx context.Context, lease Lease, checkpoint []byte, items []types.TransactWriteItem) error {
	if err := firstError(checkOwn(lease), checkCheckpoint(checkpoint), checkItems(items)); err != nil {
		return err
	}
	k := leaseKey(lease.Group, lease.Partition)
	unlock, err := s.working.lock(ctx, k)
	if err != nil {
		return err
	}
	defer unlock()
	w := &fencedWork{store: s, lease: lease, key: k, checkpoint: bytes.Clone(checkpoint), items: items, budget: s.budget(0)}
	if applied, err := w.settleEarlier(ctx); err != nil {
		return err
	} else if applied {
		return ErrEarlierApplied
	}
	return w.run(ctx)
}

func checkItems(items []types.TransactWriteItem) error {
	if len(items) >= maxTransaction {
		return &ArgumentError{"items", fmt.Sprintf("are %d, at most %d are allowed", len(items), maxTransaction-1)}
	}
	return nil
}

// run carries the work through, and says what is known of it.
func (w *fencedWork) run(ctx context.Context) error {
	err := w.look(ctx)
	for err == nil && !w.done {
		err = w.try(ctx)
	}
	if at, ok := w.store.timing.moment(); ok && w.done {
		w.store.leases.keep(w.key, sighting[leaseRow]{row: w.row}, at)
	} else {
		w.store.leases.forget(w.key)
	}
	if err == nil || len(w.open) == 0 {
		return err
	}
	return w.doubtful(ctx, err)
}

// doubtful is the error of work that has attempts which were never answered. Where the caller is to believe that nothing
// was written, it makes sure that none of them can be applied any more.
func (w *fencedWork) doubtful(ctx context.Context, err error) error {
	var fenced *FencedError
	var refused *types.TransactionCanceledException
	switch {
	case errors.As(err, &fenced) && w.untouched():
		return err // the row was written by others since, and not by us: what is on its way can't be applied
	case !errors.As(err, &fenced) && errors.As(err, &refused):
		if certain, barErr := w.bar(ctx); barErr == nil && certain {
			if w.done {
				return nil
			}
			return err
		}
	}
	if len(w.items) > 0 { // a checkpoint alone does no harm: the next one replaces it
		w.store.doubts.note(w.key, doubt{w.before, w.attempts})
	}
	return fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
}

// bar gives the row another rev, if it is as the attempts found it: none of them can be applied any more then. It
// reports whether it is certain what became of them; done tells whether one was applied.
func (w *fencedWork) bar(ctx context.Context) (certain bool, err error) {
	done, err := settle(ctx, w.store, change[leaseRow]{
		key: w.key, rows: newMemory(func(leaseRow, int64) bool { return false }), decode: decodeLease, budget: w.budget.Share(),
		start: func(sighting[leaseRow], moment) bool { return false },
		propose: func(seen sighting[leaseRow], _ moment) (proposal[leaseRow], error) {
			if row := seen.row; row.work != w.before || !w.lease.covers(row) {
				return proposal[leaseRow]{action: leave, next: row}, nil
			}
			return proposal[leaseRow]{action: write, next: seen.row}, nil
		},
	})
	if err != nil {
		return false, err
	}
	w.row = done.seen.row
	w.done = w.applied()
	return w.done || w.untouched(), nil
}

// maxHandOvers is far above what a lease can change hands while one call goes on, and far below by how much the first
// epoch of a row that was made anew is greater than those before.
const maxHandOvers = 1000

// untouched tells whether the row shows that no attempt was applied. A row that is gone does not show it, nor does one
// that was made anew since: without any work in it, it looks like one in which none was ever done.
func (w *fencedWork) untouched() bool {
	return w.row.rev != "" && w.row.work == w.before && (w.before != "" || w.row.epoch-w.lease.Epoch < maxHandOvers)
}
