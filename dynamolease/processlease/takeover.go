package processlease

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/internal/elapsed"
	"github.com/dynamolease/dynamolease/internal/request"
)

// An Observation is a candidate's proof to itself that one exact record has stayed current for a
// full ttl. It holds the record and the time when the candidate saw it. The takeover is
// conditional on the record being unchanged. An Observation is useful only in the process that
// made it.
type Observation struct {
	identity *Identity
	owner    uuid.UUID // the candidate
	head     head
	started  time.Duration // Min on the node's own clock
}

// driftPPM is by how much a clock may run fast or slow, in parts per million.
const driftPPM = 200

// fullTTL returns how long an observer must see a record unchanged until the ttl of its owner has
// surely passed: the owner's clock may be slow, and the observer's clock may be fast.
func fullTTL(ttl time.Duration) time.Duration {
	drift := float64(ttl) * 2 * driftPPM / (1_000_000 - driftPPM)
	return ttl + time.Duration(drift) + 2*elapsed.Doubt + 1
}

// Record returns the observed record.
func (o Observation) Record() Record { return o.head.Record }

// Remaining returns how long the record must still stay unchanged until a takeover is permitted:
// a full ttl from the start of the observation, counted with the slowest of this node's clocks.
// If the owner resigned, Remaining returns zero at once.
func (o Observation) Remaining() time.Duration {
	if o.identity == nil || o.head.Resigned {
		return 0
	}
	// The owner believes in the ttl of its last write, which may be longer than ours.
	needed := fullTTL(max(o.head.lasts, o.identity.authority.ttl))
	return max(0, needed-(o.identity.authority.clock().Min-o.started))
}

// ObserveRival begins to observe the boot that holds the lease, on behalf of owner. The observation
// starts after the read of the record. It costs two reads.
//
// If there is no record, the error is [ErrMissing]. If owner itself holds the lease, or was
// superseded earlier, the error is an [ErrInvalid].
func (s *Identity) ObserveRival(ctx context.Context, owner uuid.UUID) (Observation, error) {
	o, err := s.observeRival(ctx, owner)
	return o, s.explain(err, "observe")
}

func (s *Identity) observeRival(ctx context.Context, owner uuid.UUID) (Observation, error) {
	if err := checkOwner(owner); err != nil {
		return Observation{}, err
	}
	budget := s.budget()
	seen, err := s.authority.currentHead(ctx, s.node, budget)
	switch {
	case err != nil:
		return Observation{}, err
	case seen.Owner == owner:
		return Observation{}, invalid("owner %v holds the lease itself, and cannot take over from itself", owner)
	}
	if err := s.checkFresh(ctx, owner, budget); err != nil {
		return Observation{}, err
	}
	return s.observe(seen, owner), nil
}

// observe begins to observe a head. Call it right after the read of the head.
func (s *Identity) observe(seen head, owner uuid.UUID) Observation {
	return Observation{identity: s, owner: owner, head: seen, started: s.authority.clock().Min}
}

// TryTakeover takes the lease over from the observed boot, if a full ttl has passed and the
// record is still exactly the observed one. Term and seq grow by one. The same transaction writes
// both fences.
//
// If it is too early, TryTakeover makes no request and returns the observed record, not acquired.
// If the record has changed in any way, it returns the current one, not acquired. If the record
// is gone, the error is [ErrMissing].
//
// TryTakeover costs one request and 6 write units. Like [Identity.TryAcquire], it makes up for lost
// answers and retries for about half the ttl, and the call may be repeated: it then renews a
// takeover that an earlier call made, and returns its fence.
func (s *Identity) TryTakeover(ctx context.Context, observed Observation) (Result, error) {
	out, err := s.tryTakeover(ctx, observed, s.budget())
	return out, s.explain(err, "take over")
}

func (s *Identity) tryTakeover(ctx context.Context, o Observation, budget *request.Budget) (Result, error) {
	switch {
	case o.identity == nil || o.identity.authority != s.authority || o.identity.node != s.node:
		return Result{}, &dynamolease.ArgumentError{Argument: "observed", Problem: "must come from ObserveRival of this node and authority"}
	case o.Remaining() > 0:
		return Result{Record: o.head.Record}, nil
	}
	c := s.change(o.owner)
	c.seen, c.budget = &o.head, budget
	c.decide = func(seen head, ours bool) (headWrite, error) {
		switch {
		case !seen.exists():
			return headWrite{}, missing("the head was deleted")
		case seen == o.head:
			next, fence, err := seen.succeeded(o.owner, s.authority.ttl)
			return headWrite{next, fence}, err
		case ours && seen.Owner == o.owner && !seen.Resigned: // an earlier call took over; its answer was lost
			next, err := seen.renewed(s.authority.ttl)
			return headWrite{head: next}, err
		default:
			return headWrite{}, nil
		}
	}
	return c.do(ctx)
}
