package processlease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dynamolease/dynamolease/internal/request"
	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// retire dates, in the background, the fences that began the superseded term and the terms before it, so that DynamoDB's
// TTL throws them away after their retention. No call waits for it, and what it does not get done stays in the table,
// where the next takeover finds it. The evidence of the current term is never dated.
func (a *Authority) retire(ctx context.Context, superseded Lease) {
	if a.retention == KeepFences || superseded.Term == 1 {
		return
	}
	a.inBackground(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rowstore.Patience)
		defer cancel()
		if err := a.retireTerms(ctx, superseded.Node, superseded.Term); err != nil {
			a.logger.WarnContext(ctx, "processlease: superseded fences stay for now",
				"node", superseded.Node, "term", superseded.Term, "err", err)
		}
	})
}

// retireTerms dates the fences up to term that are not. The oldest comes first, so that wherever this is broken off, those
// that are left are the latest ones, and are found from the end.
func (a *Authority) retireTerms(ctx context.Context, node string, term uint64) error {
	budget := a.rows.Budget(0)
	next, err := a.firstUndated(ctx, node, term, budget)
	var malformed error
	for ; err == nil && next <= term; next++ {
		if err = a.dateTerm(ctx, node, next, budget); errors.Is(err, ErrInvalid) {
			malformed, err = err, nil // it is not one of ours, and must not keep the others
		}
	}
	return errors.Join(malformed, err)
}

// firstUndated finds the term from which on no fence is dated, in a number of reads that grows with the logarithm of how
// many these are. If there is none it is term+1.
func (a *Authority) firstUndated(ctx context.Context, node string, term uint64, budget *request.Budget) (uint64, error) {
	low, high := term, term+1 // high is undated, as far as it matters; of low it is to be seen
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

// dated tells whether the fence that began a term has a ttl, or is gone.
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
	// The one that is looked at comes last: with it, both are done.
	for _, k := range []rowstore.Key{predecessorKey(node, f.Predecessor.Owner), successorKey(node, term)} {
		if err := a.date(ctx, k, budget); err != nil {
			return fmt.Errorf("date fence %s: %w", k.SK, err)
		}
	}
	return nil
}

// date gives a fence its ttl, unless it has one or is gone.
func (a *Authority) date(ctx context.Context, k rowstore.Key, budget *request.Budget) error {
	undated := rowstore.Condition{Exists: true, Equal: []rowstore.Attribute{{Name: attrTTL}}}
	end := a.latest().Add(a.retention).Unix() + 1
	send := a.rows.Write(a.rows.Update(k, undated, []rowstore.Attribute{{Name: attrTTL, Value: rowstore.Number(end)}}))
	err := a.rows.Try(ctx, budget, a.rows.Timeout(a.ttl), rowstore.Attempts{
		Next: func(context.Context) (rowstore.Send, error) { return send, nil },
		Refused: func(context.Context, request.Answer, error) (wait bool, err error) {
			send = nil // it is dated, or gone
			return false, nil
		},
	})
	return a.failure(ctx, err)
}

// latest returns the store's time at the most, or the wall clock's before anything is known of it.
func (a *Authority) latest() time.Time {
	if now, ok := a.rows.Time.Store.Now(); ok {
		return now.Latest
	}
	return time.Now()
}
