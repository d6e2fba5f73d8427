package processlease

import (
	"context"
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
	a.background.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), retirementPatience)
		defer cancel()
		if err := a.retireTerms(ctx, superseded.Node, superseded.Term); err != nil {
			a.logger.WarnContext(ctx, "processlease: superseded fences stay for now",
				"node", superseded.Node, "term", superseded.Term, "err", err)
		}
	})
}

// retireTerms goes back from term to the first one that was dated before, or that is gone.
func (a *Authority) retireTerms(ctx context.Context, node string, term uint64) error {
	budget := request.NewBudget(retirementPatience, time.Second)
	for ; term > 1; term-- {
		row, err := a.get(ctx, successorKey(node, term), budget)
		if _, dated := row[attrTTL]; err != nil || len(row) == 0 || dated {
			return err
		}
		f, err := decodeFence(successorKey(node, term), node, row)
		if err != nil {
			return err
		}
		// The one that is looked at comes last: with it, both are done.
		for _, k := range []key{predecessorKey(node, f.Predecessor.Owner), successorKey(node, term)} {
			if err := a.date(ctx, k, budget); err != nil {
				return fmt.Errorf("date fence %s: %w", k.sk, err)
			}
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
