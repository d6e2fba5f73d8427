package dynamolease

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// Transact writes items (at most 99, of any table of the account and Region, none of them the
// lease's own row) in one transaction, only while nobody else has taken the lease and it was not
// released. A checkpoint that is not nil is written in the same transaction, see
// [Store.Checkpoint]: work that moves the checkpoint along with its results is done exactly once,
// whatever happens to the process in between.
//
// A lost answer is told from a refusal: each transaction leaves an id of its own in the lease's
// row. So items need not be idempotent; they are applied once. One Transact or Checkpoint at a time
// for a lease; others wait.
//
// It returns nil when the items were written, also when another holder has taken the lease since.
// The errors:
//
//   - a [FencedError] that names the new holder: the lease was taken or released, and nothing was
//     written;
//   - *types.TransactionCanceledException of the SDK, wrapped: a condition of an item did not hold,
//     and nothing was written; its first reason is the lease's, the others are those of items, in
//     order;
//   - [ErrUnknownOutcome], wrapped, perhaps together with a FencedError: it is unknown whether the
//     items were written, and they may be yet. [Store.Resume] finds out;
//   - [ErrEarlierApplied]: somebody of the lease's owner has written since the lease's checkpoint,
//     such as a call before that ended with ErrUnknownOutcome; nothing was written now. Go on from
//     [Store.Resume];
//   - [ArgumentError], [RowError], [SetupError], the context's, or the SDK's, after retries for at
//     most 10 seconds: nothing was written.
func (s *Store) Transact(ctx context.Context, lease Lease, checkpoint []byte, items ...types.TransactWriteItem) error {
	return s.explain(s.work(ctx, lease, checkpoint, items), "transact under %s/%d", lease.Group, lease.Partition)
}

// MaxCheckpoint is the largest checkpoint in bytes. Keep it far below: with one under about 700
// bytes the lease's row stays below 1 KB, and each write of it costs one write unit.
const MaxCheckpoint = 16 << 10

// Checkpoint leaves data with the lease, at most [MaxCheckpoint] bytes (say how far the work in its
// partition has got). It stays when the lease changes hands, and Acquire gives it to the next
// holder as [Lease.Checkpoint]. Empty data removes it. Only the holder can write it, and one
// Checkpoint or [Store.Transact] at a time for a lease; others wait.
//
// The errors are those of [Store.Transact], of which it is the case without items: one UpdateItem.
func (s *Store) Checkpoint(ctx context.Context, lease Lease, data []byte) error {
	if data == nil {
		data = []byte{}
	}
	return s.explain(s.work(ctx, lease, data, nil), "checkpoint %s/%d", lease.Group, lease.Partition)
}

// work writes items and a checkpoint under a lease. Those of one lease take turns.
func (s *Store) work(ctx context.Context, lease Lease, checkpoint []byte, items []types.TransactWriteItem) error {
	if err := firstError(checkOwn(lease), checkCheckpoint(checkpoint), checkItems(items)); err != nil {
		return err
	}
	k := leaseKey(lease.Group, lease.Partition)
	unlock, err := s.working.Lock(ctx, k)
	if err != nil {
		return err
	}
	defer unlock()
	w := s.newWork(lease, k, lease.progress.base(len(items) == 0))
	w.checkpoint, w.items = bytes.Clone(checkpoint), items
	err = w.run(ctx)
	if err != nil && w.unanswered {
		err = w.settle(ctx, err)
	}
	w.note(err)
	return err
}

// note keeps what the process knows of the work under the lease by now.
func (w *fencedWork) note(err error) {
	p := w.lease.progress
	switch {
	case w.done:
		p.advance(w.id)
		w.store.noteWork(w.key, leaseRow{holder: p.holder, epoch: p.epoch, checkpoint: w.checkpoint, work: w.id}, w.checkpoint != nil)
	case !errors.Is(err, ErrUnknownOutcome):
	case len(w.items) == 0:
		p.doubt(w.id)
	default:
		w.store.works.keep(w.key, p)
	}
}

func checkCheckpoint(data []byte) error {
	if len(data) > MaxCheckpoint {
		return &ArgumentError{"checkpoint", fmt.Sprintf("has %d bytes, at most %d are allowed", len(data), MaxCheckpoint)}
	}
	return nil
}

func checkItems(items []types.TransactWriteItem) error {
	if len(items) >= rowstore.MaxActions {
		return &ArgumentError{"items", fmt.Sprintf("has %d entries, at most %d are allowed", len(items), rowstore.MaxActions-1)}
	}
	return nil
}
