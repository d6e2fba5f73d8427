package dynamolease

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/internal/request"
	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// A fencedWork is one call that writes under a lease. Each attempt is conditional on the owner, the
// epoch and the work that the caller builds on, and leaves an id of its own as the row's work. So
// DynamoDB applies at most one attempt, and the row tells whether it did.
//
// It leaves the row's rev alone, on which ownership rests: a renewal refuses no work, and work
// refuses no renewal.
type fencedWork struct {
	store      *Store
	lease      Lease
	key        rowstore.Key
	checkpoint []byte // nil to leave it as it is
	items      []types.TransactWriteItem
	budget     *request.Budget
	base       []string // the works that it may build on
	id         string   // the work that it leaves

	row        leaseRow // as a refusal showed it
	done       bool     // an attempt was applied
	unanswered bool     // an attempt was not answered
}

func (s *Store) newWork(lease Lease, k rowstore.Key, base []string) *fencedWork {
	return &fencedWork{store: s, lease: lease, key: k, budget: s.rows.Budget(0), base: base, id: uuid.NewString()}
}

// run makes attempts until one is applied or the lease is not as the caller knows it.
func (w *fencedWork) run(ctx context.Context) error {
	asKnown := rowstore.Condition{
		Equal: []rowstore.Attribute{
			{Name: attrOwner, Value: rowstore.Text(w.lease.Owner)}, {Name: attrEpoch, Value: rowstore.Number(w.lease.Epoch)},
		},
		AnyOf: rowstore.Choice{Name: attrWork, Values: w.base},
	}
	return w.store.rows.Try(ctx, w.budget, w.store.rows.Timeout(0), rowstore.Attempts{
		Enter: func(ctx context.Context) (func(), error) { return w.store.requests.Lock(ctx, w.key) }, // a renewal goes first
		Next: func(context.Context) (rowstore.Send, error) {
			if w.done {
				return nil, nil
			}
			return w.store.rows.Write(w.store.rows.Update(w.key, asKnown, w.attributes()), w.items...), nil
		},
		Done:    func(request.Answer) { w.done = true },
		Unknown: func() { w.unanswered = true },
		Refused: w.refused,
	})
}

// attributes returns what the work writes into the lease's row. A row with a checkpoint has no ttl.
func (w *fencedWork) attributes() []rowstore.Attribute {
	list := []rowstore.Attribute{{Name: attrWork, Value: rowstore.Text(w.id)}}
	switch {
	case w.checkpoint == nil:
		return list
	case len(w.checkpoint) == 0:
		return append(list, rowstore.Attribute{Name: attrCheckpoint})
	default:
		return append(list, rowstore.Attribute{Name: attrCheckpoint, Value: rowstore.Bytes(w.checkpoint)}, rowstore.Attribute{Name: attrTTL})
	}
}

// refused takes in the row that a refusal brought along, or reads it where none came.
func (w *fencedWork) refused(ctx context.Context, _ request.Answer, refusal error) (wait bool, err error) {
	row, came := rowstore.RefusedRow(refusal)
	if !came {
		return false, refusal // a condition of an item
	}
	if len(row) == 0 { // the row is gone, or the client does not pass on what is asked for
		if row, _, err = w.store.rows.Get(ctx, w.key, w.budget, w.store.rows.Timeout(0)); err != nil {
			return false, err
		}
	}
	if w.row, err = decodeFenced(row); err != nil {
		return false, err
	}
	if w.done = w.row.work == w.id; w.done {
		return false, nil
	}
	return true, w.judge()
}

// judge returns why the row does not let the work through; nil if it does by now.
func (w *fencedWork) judge() error {
	switch {
	case !w.lease.covers(w.row):
		return w.lease.fenced(w.row)
	case !slices.Contains(w.base, w.row.work):
		return ErrEarlierApplied
	default:
		return nil
	}
}

func decodeFenced(row rowstore.Item) (leaseRow, error) {
	if len(row) == 0 {
		return leaseRow{}, nil
	}
	return decodeLease(row)
}

// maxHandOvers is far above what a lease can change hands while one call goes on, and far below by
// how much the first epoch of a row that was made anew is greater than those before.
const maxHandOvers = 1000

// untouched reports whether the row, which is not the lease's any more, shows that no attempt was
// applied. A row that is gone does not show it, nor does one that was made anew since: without any
// work in it, it looks like one in which none was ever done.
func (w *fencedWork) untouched() bool {
	return w.row.rev != "" && slices.Contains(w.base, w.row.work) &&
		(w.row.work != "" || w.row.epoch-w.lease.Epoch < maxHandOvers)
}

// settle returns the error of work that ended with err, when attempts were not answered. Where the
// caller will believe that nothing was written, it makes sure that none of them can be applied any
// more.
func (w *fencedWork) settle(ctx context.Context, err error) error {
	var fenced *FencedError
	var refused *types.TransactionCanceledException
	switch {
	case errors.As(err, &fenced):
		if w.untouched() {
			return err // the epoch has grown: what is on its way cannot be applied any more
		}
	case !errors.Is(err, ErrEarlierApplied) && errors.As(err, &refused):
		if certain, barErr := w.bar(ctx); barErr == nil && certain {
			if w.done {
				return nil
			}
			return err
		}
	}
	return fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
}

// bar leaves another work in the row, on top of what the attempts build on: none of them can be
// applied any more then. It reports whether their fate is certain; w.done says whether one was
// applied.
func (w *fencedWork) bar(ctx context.Context) (certain bool, err error) {
	b := w.store.newWork(w.lease, w.key, w.base)
	b.budget = w.budget.Share()
	err = b.run(ctx)
	w.row = b.row
	switch {
	case err == nil:
		w.lease.progress.advance(b.id)
		return true, nil
	case w.row.work == w.id:
		w.done = true
		return true, nil
	case w.row.rev != "" && !w.lease.covers(w.row) && w.untouched():
		return true, nil
	default:
		return false, err
	}
}
