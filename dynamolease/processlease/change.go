package processlease

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/internal/request"
	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// A change is a compare-and-set of a head for an owner. Each attempt is conditional on exactly the
// head that the call saw. So at most one of several attempts takes effect, at whatever time they
// arrive. A rowstore.Change does the work, lost answers included.
//
// If an attempt of this call left the head, this call succeeded. If an earlier call left it, decide
// must judge it again, like any other head: the earlier call wanted something else, and a boot that
// acquires now must have the whole ttl from now on.
type change struct {
	identity *Identity
	owner    uuid.UUID
	by       any             // a Manager: its earlier attempts count as this call's own; nil for none
	seen     *head           // the head if the caller has read it already
	budget   *request.Budget // of the call

	// consult looks up the facts that decide needs in addition to the head; nil for none.
	consult func(ctx context.Context, seen head, budget *request.Budget) error

	// decide returns the head to write on top of the one that the call saw. It returns none if
	// the head that the call saw is the answer. If another write came first, decide is called
	// again with the new head. ours is true if a write of this Identity left the head and the answer
	// was lost.
	decide func(seen head, ours bool) (headWrite, error)

	existed bool // the call saw a head
}

func (s *Identity) change(owner uuid.UUID) *change {
	return &change{identity: s, owner: owner, budget: s.budget()}
}

// do carries the change through. The error wraps [dynamolease.ErrUnknownOutcome] if an attempt was
// never answered and the call has not seen the head since.
func (c *change) do(ctx context.Context) (Result, error) {
	a, k := c.identity.authority, headKey(c.identity.node)
	done, err := c.rowChange(k).Do(ctx, a.rows)
	switch {
	case err != nil:
		return Result{}, a.failure(ctx, err)
	case done.Applied == nil:
		at, _ := a.rows.Time.Moment()
		c.identity.heads.Keep(k, done.Known, at)
		return Result{Record: done.Known.Row.Record}, nil
	}
	applied := done.Applied.Row
	// This write and the pending ones before it have had their turn: none is recognised again.
	c.identity.attempts.settle(applied.Seq)
	done.Known.Pending = slices.DeleteFunc(slices.Clone(done.Known.Pending), func(p rowstore.Pending[headWrite]) bool {
		return p.Row.Seq <= applied.Seq
	})
	c.identity.heads.Keep(k, done.Known, done.Applied.At)
	if applied.fence != nil {
		a.retire(ctx, applied.fence.Predecessor)
	}
	boot := a.boots.get(Participant{c.identity.node, c.owner})
	return Result{
		Record: applied.Record, Acquired: true, Fence: applied.fence,
		own: &acquired{
			identity: c.identity, boot: boot, number: boot.number(), head: applied.head, start: done.Applied.At.Start,
		},
	}, nil
}

func (c *change) rowChange(k rowstore.Key) rowstore.Change[headWrite] {
	r := rowstore.Change[headWrite]{
		Key: k, Cache: c.identity.heads, TTL: c.identity.authority.ttl, Budget: c.budget,
		Decode: func(row rowstore.Item) (headWrite, error) {
			h, err := decodeHead(c.identity.node, row)
			return headWrite{head: h}, err
		},
		Start:      func(known rowstore.Known[headWrite], _ rowstore.Moment) bool { return known.Row.Owner == c.owner },
		Propose:    c.propose,
		Together:   fenceRefused,
		Sending:    func(p rowstore.Pending[headWrite]) { c.identity.attempts.note(p.Row) },
		TurnedAway: func(p rowstore.Pending[headWrite]) { c.identity.attempts.drop(p.Row.rev) },
	}
	if c.by != nil {
		r.By = c.by
		r.Counts = func(p rowstore.Pending[headWrite]) bool { return p.By == c.by }
	}
	if c.seen != nil {
		known, _ := c.identity.heads.Recall(k)
		known.Row = headWrite{head: *c.seen}
		r.Seen = &known
	}
	if c.consult != nil {
		r.Consult = func(ctx context.Context, seen headWrite, _ rowstore.Moment, budget *request.Budget, _ time.Duration) error {
			return c.consult(ctx, seen.head, budget)
		}
	}
	return r
}

func (c *change) propose(seen rowstore.Known[headWrite], _ rowstore.Moment) (rowstore.Proposal[headWrite], error) {
	c.existed = c.existed || seen.Row.exists()
	earlier, ours := c.identity.attempts.find(seen.Row.rev)
	next, err := c.decide(seen.Row.head, ours)
	switch {
	case err != nil || next.Node == "":
		return rowstore.Proposal[headWrite]{}, err
	case c.existed && !seen.Row.exists(): // the term must not start again
		return rowstore.Proposal[headWrite]{}, missing("the head was deleted")
	}
	p := rowstore.Write(next)
	p.Condition = seen.Row.unchanged()
	if next.fence != nil {
		p.Together = next.fence.writes(c.identity.authority.rows)
	} else if ours {
		p.Next.fence = earlier.fence // an earlier call took over, and its answer was lost
	}
	return p, nil
}

// fenceRefused returns the reason why DynamoDB refused a takeover although the head had not
// changed. Nil stands for a transient reason.
func fenceRefused(refusal error) error {
	var cancelled *types.TransactionCanceledException
	if !errors.As(refusal, &cancelled) || len(cancelled.CancellationReasons) == 0 {
		return nil
	}
	if request.ClassifyReason(cancelled.CancellationReasons[0]) == request.NotDone {
		// DynamoDB did not check the head. If a fence is there already, the transaction that has
		// locked the head may have written it.
		return nil
	}
	for _, reason := range cancelled.CancellationReasons {
		switch request.ClassifyReason(reason) {
		case request.Refused:
			return invalid("the next term, or the owner to supersede, has a fence already: somebody deleted or restored rows")
		case request.Failed:
			return invalid("the transaction was cancelled with %s: %s", aws.ToString(reason.Code), aws.ToString(reason.Message))
		}
	}
	return nil
}
