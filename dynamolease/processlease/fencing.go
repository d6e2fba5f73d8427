package processlease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/internal/request"
)

// FencingDeadline is the deadline that the context of a [Authority.FenceIncarnation] beginning now should have: a full
// ttl, as an observer counts it, and io for its requests, which must be positive. A boot that goes by a longer ttl than this
// authority's needs a later one.
func (a *Authority) FencingDeadline(io time.Duration) (time.Time, error) {
	if io <= 0 {
		return time.Time{}, &dynamolease.ArgumentError{Argument: "io", Problem: "must be positive: fencing takes requests, besides the ttl"}
	}
	return time.Now().Add(fullTTL(a.ttl) + io), nil
}

// FenceIncarnation makes sure that a boot of a node is superseded, and returns the verified proof of it.
//
// If it is superseded already, that is the fence of the takeover that ended its term, at once; the same one whenever it
// is called, whatever came later, until the retention has passed. Otherwise the boot is observed for a full ttl and
// then superseded by an owner that nobody is. The next boot of the node has to observe that one for a ttl in turn.
//
// The error is [ErrRenewed] if the boot proves to be alive, [ErrDeadline] at once if ctx ends before a full ttl has
// passed, and later if it ends before there is proof, and [ErrMissing] if the node has no head or the boot never
// held its lease. The call may be repeated after any of them.
func (a *Authority) FenceIncarnation(ctx context.Context, participant Participant) (Fence, error) {
	if err := participant.check(); err != nil {
		return Fence{}, fmt.Errorf("fence: %w", err)
	}
	f, err := a.fence(ctx, a.store(participant.Node), participant)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) && !errors.Is(err, ErrDeadline) {
		err = fmt.Errorf("%w: %w", ErrDeadline, err)
	}
	if err != nil {
		return Fence{}, fmt.Errorf("fence %v: %w", participant, err)
	}
	return f, nil
}

func (a *Authority) fence(ctx context.Context, s *Store, participant Participant) (Fence, error) {
	for {
		seen, err := s.read(ctx, s.budget())
		switch {
		case err != nil:
			return Fence{}, err
		case !seen.exists():
			return Fence{}, missing("the node has no head")
		case seen.Owner != participant.Owner:
			return a.verifiedEvidence(ctx, participant)
		}
		current, err := s.supersede(ctx, s.observe(seen, uuid.New()))
		switch {
		case err != nil:
			return Fence{}, err
		case current.Owner == participant.Owner && !current.Resigned:
			return Fence{}, fmt.Errorf("%w: term %d, now seq %d", ErrRenewed, current.Term, current.Seq)
		}
		// It was superseded, by this call or another, or it has resigned and can be at once.
	}
}

// supersede waits until the observation permits a takeover, tries it, and returns the record that is current then.
func (s *Store) supersede(ctx context.Context, o Observation) (Lease, error) {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < o.Remaining() {
		return Lease{}, fmt.Errorf("%w: %v left, and a full ttl takes %v", ErrDeadline, time.Until(deadline), o.Remaining())
	}
	for o.Remaining() > 0 {
		if err := sleep(ctx, o.Remaining()); err != nil {
			return Lease{}, err
		}
	}
	out, err := s.tryTakeover(ctx, o, s.budgetUntil(ctx))
	return out.Lease, err
}

// budgetUntil allows attempts until the deadline of ctx, and at least for a call's share of the ttl.
func (s *Store) budgetUntil(ctx context.Context) *request.Budget {
	ttl := s.authority.ttl
	total := ttl / 2
	if deadline, ok := ctx.Deadline(); ok {
		total = max(total, time.Until(deadline)+ttl)
	}
	return request.NewBudget(total, ttl/6)
}

// verifiedEvidence is the proof that a boot was superseded, whoever did it.
func (a *Authority) verifiedEvidence(ctx context.Context, p Participant) (Fence, error) {
	f, found, err := a.evidence(ctx, p.Node, predecessorKey(p.Node, p.Owner), a.budget())
	switch {
	case err != nil:
		return Fence{}, err
	case !found:
		return Fence{}, missing("the owner never held the lease, or its evidence is gone")
	}
	if err := a.checkStands(ctx, f, successorKey(p.Node, f.Successor.Term)); err != nil {
		return Fence{}, err
	}
	superseded, err := a.checkSuperseded(ctx, f)
	if err == nil && !superseded {
		err = invalid("owner %v holds the lease although there is a fence against it", p.Owner)
	}
	return f, err
}
