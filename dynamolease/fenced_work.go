package dynamolease

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/internal/request"
	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// A fencedWork is one call of Transact or Checkpoint. Unlike other writes, an attempt does not
// accept the row as an earlier one would have left it: then the items would be applied twice. Each
// is conditional on the row as it was seen, and whether an earlier attempt was applied shows in the
// row's work, which only work under the lease changes.
type fencedWork struct {
	store      *Store
	lease      Lease
	key        rowstore.Key
	checkpoint []byte // nil to leave it as it is
	items      []types.TransactWriteItem
	budget     *request.Budget

	row      leaseRow
	before   string   // the row's work before the first attempt
	attempts []string // the work that the attempts would have left
	open     []string // those of them that were never answered
	latest   leaseRow // what the latest attempt would have left
	done     bool     // one was applied
}

// run makes attempts until one is applied or the lease is not held any more.
func (w *fencedWork) run(ctx context.Context) error {
	if err := w.look(ctx); err != nil {
		return err
	}
	return w.store.rows.Try(ctx, w.budget, w.store.rows.Timeout(0), rowstore.Attempts{
		Next:    w.next,
		Done:    func(request.Answer) { w.row, w.done = w.latest, true },
		Unknown: func() { w.open = append(w.open, w.latest.work) },
		Refused: w.refused,
	})
}

// look takes the row from the cache, or reads it.
func (w *fencedWork) look(ctx context.Context) error {
	if seen, ok := w.store.leases.Recall(w.key); ok && w.lease.covers(seen.Row) && len(seen.Pending) == 0 {
		w.row = seen.Row
	} else if err := w.read(ctx); err != nil {
		return err
	}
	w.before = w.row.work
	return nil
}

// next returns the next attempt, unless an earlier one was applied.
func (w *fencedWork) next(context.Context) (rowstore.Send, error) {
	if w.done = w.applied(); w.done {
		return nil, nil
	}
	if !w.lease.covers(w.row) {
		return nil, w.lease.fenced(w.row)
	}
	w.latest = w.row
	w.latest.rev = uuid.NewString()
	w.latest.work = w.latest.rev
	if w.checkpoint != nil {
		w.latest.checkpoint = w.checkpoint
	}
	w.attempts = append(w.attempts, w.latest.work)
	asSeen := rowstore.Condition{Revs: []string{w.row.rev}}
	return w.store.rows.Write(w.store.rows.Update(w.key, asSeen, w.attributes()), w.items...), nil
}

// attributes returns what the work writes into the lease's row. The rest of the row stays as it is.
func (w *fencedWork) attributes() []rowstore.Attribute {
	list := []rowstore.Attribute{
		{Name: rowstore.AttrRev, Value: rowstore.Text(w.latest.rev)}, {Name: attrWork, Value: rowstore.Text(w.latest.work)},
	}
	switch {
	case w.checkpoint == nil:
	case len(w.checkpoint) == 0:
		list = append(list, rowstore.Attribute{Name: attrCheckpoint})
	default:
		list = append(list, rowstore.Attribute{Name: attrCheckpoint, Value: rowstore.Bytes(w.checkpoint)})
	}
	return list
}

func (w *fencedWork) refused(_ context.Context, _ request.Answer, refusal error) (wait bool, err error) {
	row, came := rowstore.RefusedRow(refusal)
	if !came {
		return false, refusal // a condition of an item
	}
	return false, w.see(row)
}

// applied reports whether the row shows that an attempt was applied.
func (w *fencedWork) applied() bool { return slices.Contains(w.attempts, w.row.work) }

func (w *fencedWork) read(ctx context.Context) error {
	row, _, err := w.store.rows.Get(ctx, w.key, w.budget, w.store.rows.Timeout(0))
	if err != nil {
		return err
	}
	return w.see(row)
}

func (w *fencedWork) see(row rowstore.Item) error {
	w.row = leaseRow{}
	if len(row) > 0 {
		var err error
		if w.row, err = decodeLease(row); err != nil {
			return err
		}
	}
	return nil
}
