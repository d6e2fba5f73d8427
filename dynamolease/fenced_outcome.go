package dynamolease

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// unanswered returns the error of work that has attempts which were never answered. Where the
// caller will believe that nothing was written, it makes sure that none of them can be applied any
// more.
func (w *fencedWork) unanswered(ctx context.Context, err error) error {
	var fenced *FencedError
	var refused *types.TransactionCanceledException
	switch {
	case errors.As(err, &fenced) && w.untouched():
		return err // others have written the row since, and not we: what is on its way can't be applied
	case !errors.As(err, &fenced) && errors.As(err, &refused):
		if certain, barErr := w.bar(ctx); barErr == nil && certain {
			if w.done {
				return nil
			}
			return err
		}
	}
	if len(w.items) > 0 { // a checkpoint alone does no harm: the next one replaces it
		w.store.pending.note(w.key, pendingWork{w.before, w.attempts})
	}
	return fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
}

// bar gives the row another rev, if it is as the attempts found it: none of them can be applied any
// more then. It reports whether their fate is certain; w.done says whether one was applied.
func (w *fencedWork) bar(ctx context.Context) (certain bool, err error) {
	done, err := rowstore.Change[leaseRow]{
		Key: w.key, Decode: decodeLease, Budget: w.budget.Share(),
		Propose: func(seen rowstore.Known[leaseRow], _ rowstore.Moment) (rowstore.Proposal[leaseRow], error) {
			if row := seen.Row; row.work != w.before || !w.lease.covers(row) {
				return rowstore.Proposal[leaseRow]{}, nil
			}
			return rowstore.Write(seen.Row), nil
		},
	}.Do(ctx, w.store.rows)
	if err != nil {
		return false, err
	}
	w.row = done.Known.Row
	w.done = w.applied()
	return w.done || w.untouched(), nil
}

// maxHandOvers is far above what a lease can change hands while one call goes on, and far below by
// how much the first epoch of a row that was made anew is greater than those before.
const maxHandOvers = 1000

// untouched reports whether the row shows that no attempt was applied. A row that is gone does not
// show it, nor does one that was made anew since: without any work in it, it looks like one in
// which none was ever done.
func (w *fencedWork) untouched() bool {
	return w.row.rev != "" && w.row.work == w.before && (w.before != "" || w.row.epoch-w.lease.Epoch < maxHandOvers)
}

// settleEarlier finds out what became of earlier work of this store under the lease, where that is
// not known, and bars what has not been applied. It reports whether it was applied.
func (w *fencedWork) settleEarlier(ctx context.Context) (applied bool, err error) {
	earlier, ok := w.store.pending.of(w.key)
	if !ok {
		return false, nil
	}
	e := &fencedWork{store: w.store, lease: w.lease, key: w.key, budget: w.budget, before: earlier.before, attempts: earlier.attempts}
	if _, err := e.bar(ctx); err != nil {
		return false, fmt.Errorf("find out what became of earlier work under the lease: %w", err)
	}
	w.store.pending.clear(w.key)
	w.store.leases.Forget(w.key)
	return e.done, nil
}
