package processlease

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/internal/elapsed"
	"github.com/dynamolease/dynamolease/internal/request"
	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// A change is a compare-and-set of a head for an owner. Each attempt is conditional on exactly the
// head that was seen, so that of several at most one takes effect, at whatever time they arrive.
//
// A head that an attempt of this call left is its success. One that an earlier call left is a head
// like any other, to decide on again: the earlier call wanted something else, and a boot that acquires
// now must have the whole ttl from now on.
type change struct {
	store  *Store
	owner  uuid.UUID
	by     *Manager        // whose earlier attempts count as this call's own; nil for nobody's
	seen   *head           // the head where the caller has looked it up
	budget *request.Budget // of the call

	// consult looks up what decide needs besides the head; nil for nothing.
	consult func(ctx context.Context, seen head, budget *request.Budget) error

	// decide returns the head to write on top of the one that was seen; none if that is the answer. It
	// is called again with the head as it became when somebody else wrote first. ours says that a write
	// of this store, whose answer was lost, has left the head.
	decide func(seen head, ours bool) (headWrite, error)

	existed bool // a head was seen
}

func (s *Store) change(owner uuid.UUID) *change {
	return &change{store: s, owner: owner, budget: s.budget()}
}

// acquired is what an [Outcome] carries when the lease is this boot's own.
type acquired struct {
	store *Store
	head  head
	start elapsed.Reading // when the attempt began that was applied
	over  atomic.Bool     // a Manager gave it up, or saw it lost
}

// do carries the change through. The error wraps [dynamolease.ErrUnknownOutcome] when an attempt was
// never answered and the head was not seen since.
func (c *change) do(ctx context.Context) (Outcome, error) {
	a, k := c.store.authority, headKey(c.store.node)
	done, err := c.rowChange(k).Do(ctx, a.rows)
	switch {
	case err != nil:
		return Outcome{}, a.failure(ctx, err)
	case done.Applied == nil:
		at, _ := a.rows.Time.Moment()
		c.store.heads.Keep(k, done.Known, at)
		return Outcome{Lease: done.Known.Row.Lease}, nil
	}
	c.store.heads.Keep(k, done.Known, done.Applied.At)
	applied := done.Applied.Row
	if applied.fence != nil {
		a.retire(ctx, applied.fence.Predecessor)
	}
	return Outcome{
		Lease: applied.Lease, Acquired: true, Fence: applied.fence,
		own: &acquired{store: c.store, head: applied.head, start: done.Applied.At.Start},
	}, nil
}

func (c *change) rowChange(k rowstore.Key) rowstore.Change[headWrite] {
	r := rowstore.Change[headWrite]{
		Key: k, Cache: c.store.heads, TTL: c.store.authority.ttl, Budget: c.budget,
		Decode: func(row rowstore.Item) (headWrite, error) {
			h, err := decodeHead(c.store.node, row)
			return headWrite{head: h}, err
		},
		Start:    func(known rowstore.Known[headWrite], _ rowstore.Moment) bool { return known.Row.Owner == c.owner },
		Propose:  c.propose,
		Together: fenceRefused,
	}
	if c.by != nil {
		r.By = c.by
		r.Counts = func(p rowstore.Pending[headWrite]) bool { return p.By == any(c.by) }
	}
	if c.seen != nil {
		known, _ := c.store.heads.Recall(k)
		known.Row = headWrite{head: *c.seen}
		r.Seen = &known
	}
	if c.consult != nil {
		r.Consult = func(ctx context.Context, seen headWrite, budget *request.Budget, _ time.Duration) error {
			return c.consult(ctx, seen.head, budget)
		}
	}
	return r
}

func (c *change) propose(seen rowstore.Known[headWrite], _ rowstore.Moment) (rowstore.Proposal[headWrite], error) {
	if c.existed && !seen.Row.exists() {
		return rowstore.Proposal[headWrite]{}, missing("the head was deleted")
	}
	c.existed = seen.Row.exists()
	earlier, ours := seen.PendingRev(seen.Row.rev)
	next, err := c.decide(seen.Row.head, ours)
	if err != nil || next.Node == "" {
		return rowstore.Proposal[headWrite]{}, err
	}
	p := rowstore.Write(next)
	p.Condition = seen.Row.unchanged()
	if next.fence != nil {
		p.Together = fenceWrites(c.store.authority.rows, next.fence)
	} else if ours {
		p.Next.fence = earlier.Row.fence // an earlier call took over and never heard of it
	}
	return p, nil
}

// fenceRefused returns why a takeover was refused although the head was as it was seen. Nil stands for
// something transient.
func fenceRefused(refusal error) error {
	var cancelled *types.TransactionCanceledException
	if !errors.As(refusal, &cancelled) || len(cancelled.CancellationReasons) == 0 {
		return nil
	}
	if request.ClassifyReason(cancelled.CancellationReasons[0]) == request.NotDone {
		// Nobody looked at the head. A fence that is there already can be that of the transaction that
		// has locked the head.
		return nil
	}
	for _, reason := range cancelled.CancellationReasons {
		switch request.ClassifyReason(reason) {
		case request.Refused:
			return invalid("the term that would begin, or the owner that would be superseded, has a fence already: rows were deleted or restored")
		case request.Failed:
			return invalid("the transaction was cancelled with %s: %s", aws.ToString(reason.Code), aws.ToString(reason.Message))
		}
	}
	return nil
}
