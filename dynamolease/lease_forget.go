package dynamolease

import (
	"context"
	"fmt"
	"time"

	"github.com/dynamolease/dynamolease/internal/request"
	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// Forget removes the checkpoint of a partition that nobody holds: its work begins anew. The row then
// goes like one that never had a checkpoint, an [Options.Retention] later. A partition without a
// checkpoint, or without a row, is no error. If the holder's time is over, Forget frees the lease,
// with a greater epoch, so that fenced writes of that holder are refused.
//
// The error is a [HeldError] when somebody holds the partition; nothing is changed then. It wraps
// [ErrUnknownOutcome] when it is unknown whether the checkpoint was removed: call again. Other errors:
// [ArgumentError], [RowError], [SetupError], the context's, or the SDK's, after retries for at most 10
// seconds. It is a read and a write; a read and a write more where the holder is a session that died.
func (s *Store) Forget(ctx context.Context, group string, partition int) error {
	if err := firstError(checkName("group", group), checkPartition("partition", partition)); err != nil {
		return s.explain(err, "forget")
	}
	f := &forgetting{acquisition{store: s, key: leaseKey(group, partition)}}
	return s.explain(f.run(ctx), "forget %s/%d", group, partition)
}

// A HeldError is returned when an operation is only for a partition that nobody holds.
type HeldError struct {
	Lease Lease // of the holder
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("lease %s/%d must be free, but is held by %s with epoch %d", e.Lease.Group, e.Lease.Partition, e.Lease.Owner, e.Lease.Epoch)
}

// A forgetting removes the checkpoint of one partition.
type forgetting struct {
	acquisition // of nobody: it judges whether the holder is over
}

func (f *forgetting) run(ctx context.Context) error {
	done, err := rowstore.Change[forgottenRow]{
		Key: f.key, Propose: f.propose, Hidden: rowstore.AnyRow[forgottenRow],
		Consult: func(ctx context.Context, row forgottenRow, at rowstore.Moment, budget *request.Budget, timeout time.Duration) error {
			return f.consult(ctx, row.leaseRow, at, budget, timeout)
		},
		Decode: func(item rowstore.Item) (forgottenRow, error) {
			row, err := decodeLease(item)
			return forgottenRow{row}, err
		},
	}.Do(ctx, f.store.rows)
	if err == nil {
		f.store.leases.Forget(f.key, done.Known.Row.leaseRow)
	}
	return err
}

func (f *forgetting) propose(seen rowstore.Known[forgottenRow], at rowstore.Moment) (rowstore.Proposal[forgottenRow], error) {
	row := seen.Row.leaseRow
	switch {
	case row.owner != "" && f.live(row, at):
		return rowstore.Proposal[forgottenRow]{}, &HeldError{f.describe(row)}
	case len(row.checkpoint) == 0:
		return rowstore.Proposal[forgottenRow]{}, nil
	}
	row.checkpoint = nil
	if row.owner == "" {
		return rowstore.Write(forgottenRow{row.freed(at, f.store.retention)}), nil
	}
	next, err := row.acquired(f.holder, false, 0, at, f.store.retention)
	return rowstore.Write(forgottenRow{next.freed(at, f.store.retention)}), err
}

// A forgottenRow is the row of a lease without its checkpoint.
type forgottenRow struct{ leaseRow }

// WithRev returns the row with another rev.
func (r forgottenRow) WithRev(rev string) forgottenRow { return forgottenRow{r.leaseRow.WithRev(rev)} }

// Supersedes is that of the lease's row.
func (r forgottenRow) Supersedes(pending forgottenRow) bool {
	return r.leaseRow.Supersedes(pending.leaseRow)
}

// Requires returns nothing: a checkpoint that fenced work has left meanwhile is removed, too.
func (r forgottenRow) Requires() []rowstore.Attribute { return nil }

// Attributes returns what the write decides. It removes the checkpoint.
func (r forgottenRow) Attributes() []rowstore.Attribute {
	return append(r.leaseRow.Attributes(), rowstore.Attribute{Name: attrCheckpoint})
}
