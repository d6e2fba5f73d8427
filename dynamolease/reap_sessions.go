package dynamolease

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// freeLeases frees those leases of a page whose session is over: closed, or without a row. A session
// that has expired is left alone: its own row goes in an hour, or a takeover closes it.
func (r *reaping) freeLeases(ctx context.Context, leases []leaseRow) {
	over := r.sessionsOver(ctx, leases)
	leases = slices.DeleteFunc(leases, func(row leaseRow) bool { return !over[row.session] })
	_ = rowstore.Parallel(len(leases), writesInFlight, func(i int) error {
		if r.mayWrite(ctx) {
			r.free(ctx, leases[i])
		}
		return nil
	})
}

// sessionsOver reads the sessions of leases, each once, strongly consistent and after the leases: a
// session that has no row then does not come any more.
func (r *reaping) sessionsOver(ctx context.Context, leases []leaseRow) map[rowstore.Key]bool {
	var mu sync.Mutex
	over := make(map[rowstore.Key]bool)
	for _, row := range leases {
		over[row.session] = false
	}
	keys := slices.Collect(maps.Keys(over))
	_ = rowstore.Parallel(len(keys), writesInFlight, func(i int) error {
		if isOver := r.sessionOver(ctx, keys[i]); isOver {
			mu.Lock()
			defer mu.Unlock()
			over[keys[i]] = true
		}
		return nil
	})
	return over
}

func (r *reaping) sessionOver(ctx context.Context, k rowstore.Key) bool {
	if r.over.Load() {
		return false
	}
	found, _, err := r.store.rows.Get(ctx, k, r.store.rows.Budget(0), r.store.rows.Timeout(0))
	if err != nil {
		r.halt(ctx, err)
		return false
	}
	if len(found) == 0 {
		return true
	}
	session, err := decodeMember(found)
	if err != nil { // it may live, for all that anybody knows
		r.unreadable(err)
		return false
	}
	return session.over()
}

// free frees a lease if its row is still that of the session, as a release would.
func (r *reaping) free(ctx context.Context, lease leaseRow) {
	done, err := rowstore.Change[leaseRow]{
		Key: lease.key, Decode: decodeLease, Seen: &rowstore.Known[leaseRow]{Row: lease}, Hidden: rowstore.AnyRow[leaseRow],
		Propose: func(seen rowstore.Known[leaseRow], at rowstore.Moment) (rowstore.Proposal[leaseRow], error) {
			if seen.Row.holder != lease.holder {
				return rowstore.Proposal[leaseRow]{}, nil
			}
			return rowstore.Write(seen.Row.freed(at, r.store.retention)), nil
		},
	}.Do(ctx, r.store.rows)
	switch {
	case err != nil:
		r.halt(ctx, err)
	case done.Applied == nil:
		r.note(func(report *ReapReport) { report.Raced++ })
	default:
		r.note(func(report *ReapReport) { report.Freed++ })
	}
}
