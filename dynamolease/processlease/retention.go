package processlease

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/internal/request"
)

const retirementPatience = 10 * time.Second

// retire dates, in the background, the fences that began the superseded term and the terms before it, so that DynamoDB's
// TTL throws them away after their retention. No call waits for it, and what it does not get done stays in the table,
// where the next takeover finds it. The evidence of the current term is never dated.
func (a *Authority) retire(ctx context.Context, superseded Lease) {
	if a.retention == KeepFences || superseded.Term == 1 {
		return
	}
	a.inBackground(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), retirementPatience)
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
	budget := request.NewBudget(retirementPatience, time.Second)
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
	for _, k := range []key{predecessorKey(node, f.Predecessor.Owner), successorKey(node, term)} {
		if err := a.date(ctx, k, budget); err != nil {
			return fmt.Errorf("date fence %s: %w", k.sk, err)
		}
	}
	return nil
}

// date gives a fence its ttl, unless it has one or is gone.
func (a *Authority) date(ctx context.Context, k key, budget *request.Budget) error {
	end := a.latest().Add(a.retention)
	e := newExpression(item{attrTTL: &types.AttributeValueMemberN{Value: strconv.FormatInt(end.Unix()+1, 10)}})
	e.requirePresent(attrPK)
	e.requireAbsent(attrTTL)
	update := e.update(a.table, k)
	for {
		_, outcome, err := a.sender.Do(ctx, a.timeout, func(ctx context.Context, opt func(*dynamodb.Options)) error {
			_, err := a.client.UpdateItem(ctx, updateItem(update), opt)
			return err
		})
		switch outcome {
		case request.Done, request.Refused:
			return nil
		case request.Failed:
			return a.failure(err)
		}
		if err := a.again(ctx, budget, err); err != nil {
			return err
		}
	}
}

// latest is the store's time at the most, or the wall clock's before anything is known of it.
func (a *Authority) latest() time.Time {
	if now, ok := a.storeTime.Now(); ok {
		return now.Latest
	}
	return time.Now()
}
