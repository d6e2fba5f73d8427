package dynamolease

import (
	"context"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// refreshDrains dates anew, in the background, what orders to drain a node of this process: while
// the node is there, its order stays. That is one write a day. rows are those of the members, which
// a node that is there reads again and again.
func (s *Store) refreshDrains(ctx context.Context, rows []serviceRow, at rowstore.Moment) {
	for _, found := range rows {
		if row := found.drain; row.stale(at) && s.runs(row, at) && s.drains.begin(row.key, at.Start.Min) {
			s.background.run(func() { s.refreshDrain(context.WithoutCancel(ctx), row) })
		}
	}
}

// runs reports whether this process keeps the node of an order among the members.
func (s *Store) runs(row drainRow, at rowstore.Moment) bool {
	return s.members.Any(func(member memberRow) bool {
		return member.key.PK == row.key.PK && member.node == row.node && member.left == 0 && member.live(at)
	})
}

// refreshDrain changes nothing of the order but its ttl. An order that has ended meanwhile stays so.
func (s *Store) refreshDrain(ctx context.Context, row drainRow) {
	ctx, cancel := context.WithTimeout(ctx, rowstore.Patience)
	defer cancel()
	_, err := rowstore.Change[drainRow]{
		Key: row.key, Decode: decodeDrain, Seen: &rowstore.Known[drainRow]{Row: row},
		Propose: func(seen rowstore.Known[drainRow], at rowstore.Moment) (rowstore.Proposal[drainRow], error) {
			if !seen.Row.stale(at) {
				return rowstore.Proposal[drainRow]{}, nil
			}
			return rowstore.Write(seen.Row.dated(at)), nil
		},
	}.Do(ctx, s.rows)
	if err != nil {
		s.beside.WarnContext(ctx, "dynamolease: the order to drain was not dated anew, and may go in 30 days", "key", row.key.SK, "err", err)
	}
}
