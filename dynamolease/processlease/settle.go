package processlease

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/internal/elapsed"
	"github.com/dynamolease/dynamolease/internal/request"
)

// A call is a compare-and-set of a head, carried through until its outcome is known.
type call struct {
	store  *Store
	owner  uuid.UUID // for whom
	by     any       // whose attempts count as this call's own
	budget *request.Budget

	// decide says what to write on top of the head that was seen; nothing if that is the answer. It is called again with
	// the head as it became when somebody else wrote first.
	decide func(ctx context.Context, seen head) (decision, error)

	seen     head
	known    bool // seen is set
	unknown  bool // an attempt was not answered, and the head was not seen since
	refusals int
}

// call begins one whose success is an attempt of its own, and no earlier one.
func (s *Store) call(owner uuid.UUID, budget *request.Budget) *call {
	c := &call{store: s, owner: owner, budget: budget}
	c.by = c
	return c
}

// A decision is what to write. The zero decision is to write nothing.
type decision struct {
	next  head
	fence *Fence // with a takeover
}

// acquired is what an [Outcome] carries when the lease is this boot's own.
type acquired struct {
	store *Store
	head  head
	start elapsed.Reading // when the attempt began that was applied
	over  atomic.Bool     // a Manager gave it up, or saw it lost
}

// settle writes until an attempt was applied or there is nothing to write. Each attempt has a rev of its own and is
// conditional on exactly the head that was seen, so that of several at most one takes effect, at whatever time they
// arrive. A refusal brings the head along; one that an attempt of this call left means that its answer was lost. One that
// an earlier call left is a head like any other, to decide on again: what was wanted then is not what is wanted now, and
// who acquires now must have the whole ttl from now on.
//
// The error is [dynamolease.ErrUnknownOutcome] when an attempt was never answered and the head was not seen since.
func (c *call) settle(ctx context.Context) (Outcome, error) {
	out, err := c.run(ctx)
	if err != nil && c.unknown {
		err = fmt.Errorf("%w: %w", dynamolease.ErrUnknownOutcome, err)
	}
	return out, err
}

func (c *call) run(ctx context.Context) (Outcome, error) {
	if !c.known {
		seen, err := c.store.read(ctx, c.budget)
		if err != nil {
			return Outcome{}, err
		}
		c.see(seen)
	}
	for {
		d, err := c.decide(ctx, c.seen)
		if err != nil {
			return Outcome{}, err
		}
		if !d.next.exists() {
			return Outcome{Lease: c.seen.Lease}, nil
		}
		out, err := c.try(ctx, c.attempt(d))
		if err != nil || out.Acquired {
			return out, err
		}
	}
}

// attempt begins one. If an earlier call took over and never heard of it, this one brings the fence home.
func (c *call) attempt(d decision) attempt {
	if before, ok := c.store.memory.find(c.seen); ok && d.fence == nil {
		d.fence = before.fence
	}
	return attempt{base: c.seen, next: d.next, fence: d.fence, start: c.store.authority.clock(), by: c.by}
}

// try makes one attempt. Without an error and without an acquired outcome, the call is to decide again.
func (c *call) try(ctx context.Context, a attempt) (Outcome, error) {
	c.store.memory.add(a)
	outcome, err := c.store.write(ctx, a)
	switch outcome {
	case request.Done:
		return c.apply(ctx, a), nil
	case request.Refused:
		return c.refused(ctx, err)
	case request.Unknown:
		c.unknown = true
		return Outcome{}, c.again(ctx, err)
	case request.NotDone:
		c.store.memory.drop(a)
		return Outcome{}, c.again(ctx, err)
	default:
		c.store.memory.drop(a)
		return Outcome{}, c.store.authority.failure(err)
	}
}

func (c *call) again(ctx context.Context, cause error) error {
	return c.store.authority.again(ctx, c.budget, cause)
}

// refused looks at the head that a refusal brought along.
func (c *call) refused(ctx context.Context, refusal error) (Outcome, error) {
	row, changed, err := refusedHead(refusal)
	switch {
	case err != nil:
		return Outcome{}, err
	case !changed:
		return Outcome{}, c.again(ctx, refusal)
	}
	c.unknown = false
	seen, err := decodeHead(c.store.node, row)
	if err != nil {
		return Outcome{}, err
	}
	if !seen.exists() {
		return Outcome{}, missing("the head was deleted")
	}
	c.see(seen)
	if own, ok := c.store.memory.find(seen); ok && own.by == c.by {
		return c.apply(ctx, own), nil
	}
	if c.refusals++; c.refusals > 2 {
		return Outcome{}, c.again(ctx, refusal) // many writers at once: spread them
	}
	return Outcome{}, nil
}

// see takes in the head as the table has it.
func (c *call) see(h head) {
	c.seen, c.known = h, true
	if h.Owner != c.owner {
		c.store.memory.forget(c.owner)
	}
}

func (c *call) apply(ctx context.Context, a attempt) Outcome {
	c.store.memory.keep(a.next)
	if a.fence != nil {
		c.store.authority.retire(ctx, a.fence.Predecessor)
	}
	return Outcome{Lease: a.next.Lease, Acquired: true, Fence: a.fence, own: &acquired{store: c.store, head: a.next, start: a.start}}
}
