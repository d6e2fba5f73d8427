package processlease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dynamolease/dynamolease/internal/request"
	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// retire dates, in the background, the fence that began the superseded term, and those of the
// terms before it. "Dates" means: it gives the rows a ttl, and DynamoDB deletes them after the
// retention. No call waits for that. If it does not finish, the other fences stay in the table,
// and the next takeover finds them. retire never dates the evidence of the current term.
func (a *Authority) retire(ctx context.Context, superseded Record) {
	if a.retention == KeepFences || superseded.Term == 1 {
		return
	}
	a.inBackground(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rowstore.Patience)
		defer cancel()
		if err := a.retireTerms(ctx, superseded.Node, superseded.Term); err != nil {
			a.logger.WarnContext(ctx, "processlease: superseded fences stay in the table for now",
				"node", superseded.Node, "term", superseded.Term, "err", err)
		}
	})
}

// retireTerms dates the undated fences up to term. It begins with the oldest. So wherever it breaks
// off, the undated fences are the latest ones, and firstUndated finds them from the end.
func (a *Authority) retireTerms(ctx context.Context, node string, term uint64) error {
	budget := a.rows.Budget(0)
	next, err := a.firstUndated(ctx, node, term, budget)
	var malformed error
	for ; err == nil && next <= term; next++ {
		if err = a.dateTerm(ctx, node, next, budget); errors.Is(err, ErrInvalid) {
			malformed, err = err, nil // the row is not a fence of ours; date the others nevertheless
		}
	}
	return errors.Join(malformed, err)
}

// firstUndated returns the first term from which on no fence is dated, or term+1 if there is
// none. The number of reads grows with the logarithm of the number of undated fences.
func (a *Authority) firstUndated(ctx context.Context, node string, term uint64, budget *request.Budget) (uint64, error) {
	low, high := term, term+1 // high counts as undated; low is not known yet
	for step := uint64(1); low > 1; step *= 2 {
		done, err := a.dated(ctx, node, low, budget)
		if err != nil {
			return 0, err
		}
		if done {
			break
		}
		high, low = low, low-min(step, low-1)
	}
	for high-low > 1 {
		middle := low + (high-low)/2
		done, err := a.dated(ctx, node, middle, budget)
		switch {
		case err != nil:
			return 0, err
		case done:
			low = middle
		default:
			high = middle
		}
	}
	return high, nil
}

// dated reports whether the fence that began a term has a ttl, or is gone.
func (a *Authority) dated(ctx context.Context, node string, term uint64, budget *request.Budget) (bool, error) {
	row, err := a.get(ctx, successorKey(node, term), budget)
	_, dated := row[attrTTL]
	return len(row) == 0 || dated, err
}

// dateTerm dates both rows of the fence that began a term.
func (a *Authority) dateTerm(ctx context.Context, node string, term uint64, budget *request.Budget) error {
	f, found, err := a.evidence(ctx, node, successorKey(node, term), budget)
	if err != nil || !found {
		return err
	}
	// The row that dated reads comes last: if it has a ttl, both have one.
	for _, k := range []rowstore.Key{predecessorKey(node, f.Predecessor.Owner), successorKey(node, term)} {
		if err := a.date(ctx, k, budget); err != nil {
			return fmt.Errorf("date fence %s: %w", k.SK, err)
		}
	}
	return nil
}

// date gives a row of a fence its ttl, unless the row has one or is gone.
func (a *Authority) date(ctx context.Context, k rowstore.Key, budget *request.Budget) error {
	undated := rowstore.Condition{Exists: true, Equal: []rowstore.Attribute{{Name: attrTTL}}}
	end := a.latest().Add(a.retention).Unix() + 1
	send := a.rows.Write(a.rows.Update(k, undated, []rowstore.Attribute{{Name: attrTTL, Value: rowstore.Number(end)}}))
	err := a.rows.Try(ctx, budget, a.rows.Timeout(a.ttl), rowstore.Attempts{
		Next: func(context.Context) (rowstore.Send, error) { return send, nil },
		Refused: func(context.Context, request.Answer, error) (wait bool, err error) {
			send = nil // the row has a ttl, or is gone
			return false, nil
		},
	})
	return a.failure(ctx, err)
}

// latest returns the upper bound of the store's time. While the store's time is unknown, it returns
// the time of the wall clock.
func (a *Authority) latest() time.Time {
	if now, ok := a.rows.Time.Store.Now(); ok {
		return now.Latest
	}
	return time.Now()
}
