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

// FencingDeadline returns the deadline for the context of an [Authority.FenceIncarnation] that
// begins now: a full ttl, as an observer counts it, plus io for its requests. io must be
// positive. If the boot uses a longer ttl than this authority, the call needs a later deadline.
func (a *Authority) FencingDeadline(io time.Duration) (time.Time, error) {
	if io <= 0 {
		return time.Time{}, &dynamolease.ArgumentError{Argument: "io", Problem: "must be positive: fencing needs time for requests, in addition to the ttl"}
	}
	return time.Now().Add(fullTTL(a.ttl) + io), nil
}

// FenceIncarnation makes sure that a boot of a node is superseded, and returns the verified proof.
//
// If the boot is already superseded, the call returns at once. The proof is the fence of the
// takeover that ended the boot's term. Later calls return that fence too, whatever happened
// since, until its retention has passed.
//
// Otherwise the call observes the boot for a full ttl. Then it supersedes the boot with a new owner
// that no process uses. The next boot of the node must in turn observe that owner for a ttl.
//
// The errors are:
//
//   - [ErrRenewed] if the boot proves to be alive
//   - [ErrDeadline] at once if ctx would end before a full ttl has passed, and later if ctx ends
//     before there is proof
//   - [ErrMissing] if the node has no head, or if the boot never held its lease
//
// The call may be repeated after any of them.
func (a *Authority) FenceIncarnation(ctx context.Context, participant Participant) (Fence, error) {
	if err := participant.check(); err != nil {
		return Fence{}, fmt.Errorf("fence: %w", err)
	}
	f, err := a.fence(ctx, a.identity(participant.Node), participant)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) && !errors.Is(err, ErrDeadline) {
		err = fmt.Errorf("%w: %w", ErrDeadline, err)
	}
	if err != nil {
		return Fence{}, fmt.Errorf("fence %v: %w", participant, err)
	}
	return f, nil
}

func (a *Authority) fence(ctx context.Context, s *Identity, participant Participant) (Fence, error) {
	for {
		seen, err := a.currentHead(ctx, s.node, s.budget())
		switch {
		case err != nil:
			return Fence{}, err
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
		// This call or another superseded the boot, or it has resigned and the next round can
		// supersede it at once.
	}
}

// supersede waits until the observation permits a takeover, tries it, and returns the record that
// is current after that.
func (s *Identity) supersede(ctx context.Context, o Observation) (Record, error) {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < o.Remaining() {
		return Record{}, fmt.Errorf("%w: %v left, but a full ttl takes %v", ErrDeadline, time.Until(deadline), o.Remaining())
	}
	for o.Remaining() > 0 {
		if err := request.Sleep(ctx, o.Remaining()); err != nil {
			return Record{}, err
		}
	}
	out, err := s.tryTakeover(ctx, o, s.budgetUntil(ctx))
	return out.Record, err
}

// budgetUntil returns a budget that lasts until the deadline of ctx, but at least for a call's
// share of the ttl.
func (s *Identity) budgetUntil(ctx context.Context) *request.Budget {
	ttl := s.authority.ttl
	total := ttl / 2
	if deadline, ok := ctx.Deadline(); ok {
		total = max(total, time.Until(deadline)+ttl)
	}
	return request.NewBudget(total, ttl/6)
}

// verifiedEvidence returns the proof that a boot was superseded, by this process or another.
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
		err = invalid("owner %v holds the lease, although there is a fence against it", p.Owner)
	}
	return f, err
}
