package operate

import (
	"context"
	"fmt"
	"strconv"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A Lease is a live lease.
type Lease struct {
	Group      string `json:"group"`
	Partition  int    `json:"partition"`
	Owner      string `json:"owner"`
	Session    string `json:"session,omitempty"`
	Epoch      int64  `json:"epoch"`
	Left       *Left  `json:"left,omitempty"`       // in a session: the session's
	Checkpoint []byte `json:"checkpoint,omitempty"` // base64 in JSON
	Revoked    bool   `json:"revoked"`              // no longer extended
}

// Leases are the live leases of a group.
type Leases []Lease

// Leases reads the live leases of a group. With an empty list it returns [ErrNotFound]; with a list
// that lacks malformed rows, a [dynamolease.RowError]. Other errors are those of
// [dynamolease.Store.Owners].
func (t *Table) Leases(ctx context.Context, group string) (Leases, error) {
	owners, err := t.Store.Owners(ctx, group)
	if _, failure := Malformed(err); failure != nil {
		return nil, failure
	}
	list := make(Leases, 0, len(owners))
	if len(owners) == 0 && err == nil {
		return list, fmt.Errorf("%w: nobody holds a lease of group %q; members SERVICE shows which groups there are", ErrNotFound, group)
	}
	for _, owned := range owners {
		list = append(list, t.lease(owned))
	}
	return list, err
}

func (t *Table) lease(l dynamolease.Lease) Lease {
	return Lease{
		Group: l.Group, Partition: l.Partition, Owner: l.Owner, Session: l.Session, Epoch: l.Epoch,
		Left: LeftUntil(t.Store, l.ExpiresAt), Checkpoint: l.Checkpoint,
		Revoked: l.Revoked(),
	}
}

// Text returns a table with a line for each lease.
func (l Leases) Text() string {
	rows := [][]string{{"PARTITION", "OWNER", "SESSION", "EPOCH", "LEFT", "REVOKED", "CHECKPOINT"}}
	for _, lease := range l {
		rows = append(rows, []string{
			strconv.Itoa(lease.Partition), Printable(lease.Owner), Printable(lease.Session), strconv.FormatInt(lease.Epoch, 10),
			lease.Left.String(), yes(lease.Revoked), shown(lease.Checkpoint),
		})
	}
	return columns(rows)
}
