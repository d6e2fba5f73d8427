package processlease

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/internal/request"
)

// An Observation is a candidate's proof to itself that one exact record has stayed current for a full ttl: it notes the
// record and when it was seen, and the takeover is conditional on the record being that one still. It is of use only in
// the process that made it.
type Observation struct {
	store   *Store
	owner   uuid.UUID // the candidate
	head    head
	started time.Duration // Min on the node's own clock
}

// driftPPM is by how much a clock may run fast or slow, in millionths.
const driftPPM = 200

// fullTTL is how long an observer must see a record unchanged until the ttl of its owner has surely passed: the owner's
// clock may be slow, the observer's fast.
func fullTTL(ttl time.Duration) time.Duration {
	drift := float64(ttl) * 2 * driftPPM / (1_000_000 - driftPPM)
	return ttl + time.Duration(drift) + 1
}

// Lease is the record that is observed.
func (o Observation) Lease() Lease { return o.head.Lease }

// Remaining is how long the record must stay unchanged yet until a takeover is permitted: a full ttl from when the
// observation was made, counted with the slowest of this node's clocks. It is zero at once if the owner resigned.
func (o Observation) Remaining() time.Duration {
	if o.store == nil || o.head.Resigned {
		return 0
	}
	// What its owner believes in is the ttl that the record was written with, which may be longer than ours.
	needed := fullTTL(max(o.head.lasts, o.store.authority.ttl))
	return max(0, needed-(o.store.authority.clock().Min-o.started))
}

// ObserveRival begins to observe the boot that holds the lease, on behalf of owner. The observation starts after the
// record was read. It costs two reads.
//
// Without a record there is nothing to observe ([ErrMissing]). To observe oneself is an [ErrInvalid], and so is an owner
// that was superseded earlier.
func (s *Store) ObserveRival(ctx context.Context, owner uuid.UUID) (Observation, error) {
	o, err := s.observeRival(ctx, owner)
	return o, s.explain(err, "observe")
}

func (s *Store) observeRival(ctx context.Context, owner uuid.UUID) (Observation, error) {
	if err := checkOwner(owner); err != nil {
		return Observation{}, err
	}
	budget := s.budget()
	seen, err := s.read(ctx, budget)
	switch {
	case err != nil:
		return Observation{}, err
	case !seen.exists():
		return Observation{}, missing("the node has no head")
	case seen.Owner == owner:
		return Observation{}, invalid("owner %v holds the lease itself, and cannot take over from itself", owner)
	}
	if err := s.checkFresh(ctx, owner, budget); err != nil {
		return Observation{}, err
	}
	return s.observe(seen, owner), nil
}

// observe begins an observation of a head that was just read.
func (s *Store) observe(seen head, owner uuid.UUID) Observation {
	return Observation{store: s, owner: owner, head: seen, started: s.authority.clock().Min}
}

// TryTakeover takes the lease over from the boot that was observed, if a full ttl has passed and the record is still
// exactly the one that was seen: the term and the seq grow by one, and both fences are written in the same transaction.
//
// Too early, it makes no request and returns the observed record, not acquired. If the record has changed in any way
// it returns the current one, not acquired. If it is gone the error is [ErrMissing].
//
// It costs one request and 6 write units. As with [Store.TryAcquire], lost answers are made up for, the call tries for
// about half the ttl, and it may be repeated: a takeover that an earlier call made is then renewed, and its fence returned.
func (s *Store) TryTakeover(ctx context.Context, observed Observation) (Outcome, error) {
	out, err := s.tryTakeover(ctx, observed, s.budget())
	return out, s.explain(err, "take over")
}

func (s *Store) tryTakeover(ctx context.Context, o Observation, budget *request.Budget) (Outcome, error) {
	switch {
	case o.store == nil || o.store.authority != s.authority || o.store.node != s.node:
		return Outcome{}, &dynamolease.ArgumentError{Argument: "observed", Problem: "must come from ObserveRival of the same node and authority"}
	case o.Remaining() > 0:
		return Outcome{Lease: o.head.Lease}, nil
	}
	c := s.change(o.owner)
	c.seen, c.budget = &o.head, budget
	c.decide = func(seen head, ours bool) (headWrite, error) {
		switch {
		case seen == o.head:
			next, fence, err := seen.succeeded(o.owner, s.authority.ttl)
			return headWrite{next, fence}, err
		case ours && seen.Owner == o.owner && !seen.Resigned: // an earlier call took over, and never heard of it
			next, err := seen.renewed(s.authority.ttl)
			return headWrite{head: next}, err
		default:
			return headWrite{}, nil
		}
	}
	return c.do(ctx)
}
