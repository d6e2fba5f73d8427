package processlease

import (
	"context"
	"fmt"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// VerifyFence reports whether a fence holds. It returns true if the table has the fence under
// both of its keys, with exactly these records, and the boot that it superseded does not hold the
// lease. It returns false only if that boot holds the lease.
//
// If the evidence is gone, the error is [ErrMissing]. If the evidence says something else, the
// error is [ErrInvalid]. Neither counts as a false.
func (a *Authority) VerifyFence(ctx context.Context, fence Fence) (bool, error) {
	if err := fence.Validate(); err != nil {
		return false, fmt.Errorf("verify fence: %w", err)
	}
	holds, err := a.verifyFence(ctx, fence)
	if err != nil {
		return false, fmt.Errorf("verify the fence of node %q, term %d: %w", fence.Successor.Node, fence.Successor.Term, err)
	}
	return holds, nil
}

func (a *Authority) verifyFence(ctx context.Context, fence Fence) (bool, error) {
	if err := a.checkStands(ctx, fence, predecessorKey(fence.Predecessor.Node, fence.Predecessor.Owner)); err != nil {
		return false, err
	}
	if err := a.checkStands(ctx, fence, successorKey(fence.Successor.Node, fence.Successor.Term)); err != nil {
		return false, err
	}
	return a.checkSuperseded(ctx, fence)
}

// checkStands checks that the table has this fence under this key.
func (a *Authority) checkStands(ctx context.Context, fence Fence, k rowstore.Key) error {
	f, found, err := a.evidence(ctx, fence.Successor.Node, k, a.budget())
	switch {
	case err != nil:
		return err
	case !found:
		return missing("the table has no fence " + k.SK)
	case !f.equal(fence):
		return invalid("the fence %s in the table differs", k.SK)
	}
	return nil
}

// checkSuperseded reports whether the superseded boot no longer owns the head.
func (a *Authority) checkSuperseded(ctx context.Context, fence Fence) (bool, error) {
	current, err := a.currentHead(ctx, fence.Successor.Node, a.budget())
	switch {
	case err != nil:
		return false, err
	case current.Owner == fence.Predecessor.Owner:
		return false, nil
	case current.Term < fence.Successor.Term:
		return false, invalid("the head has gone back to term %d", current.Term)
	}
	return true, nil
}

// VerifyCurrentParticipant reports whether a boot holds its node's lease now, in a proven term.
// Proven is the node's first term, and every term with the evidence of the takeover that began
// it.
//
// The call reads the head, the evidence, and the head again. It returns false if a takeover came in
// between, or if the boot has resigned. Renewals in between change nothing.
//
// The error is [ErrMissing] if the node has no head or the term has no evidence. It is
// [ErrInvalid] if the evidence contradicts the head.
//
// The answer is as old as the second read of the head. It does not say whether the boot itself
// believes in its lease, nor for how long.
func (a *Authority) VerifyCurrentParticipant(ctx context.Context, participant Participant) (bool, error) {
	return a.verifyCurrent(ctx, participant, 0)
}

// VerifyCurrentParticipantTerm is [Authority.VerifyCurrentParticipant] for one term. It also
// returns false if the boot holds the lease in another term. The term must not be 0.
func (a *Authority) VerifyCurrentParticipantTerm(ctx context.Context, participant Participant, term uint64) (bool, error) {
	if term == 0 {
		return false, &dynamolease.ArgumentError{Argument: "term", Problem: "must not be 0"}
	}
	return a.verifyCurrent(ctx, participant, term)
}

// verifyCurrent accepts any term if term is 0.
func (a *Authority) verifyCurrent(ctx context.Context, p Participant, term uint64) (bool, error) {
	if err := p.check(); err != nil {
		return false, fmt.Errorf("verify participant: %w", err)
	}
	current, err := a.readCurrent(ctx, p, term)
	if err != nil {
		return false, fmt.Errorf("verify %v: %w", p, err)
	}
	return current, nil
}

func (a *Authority) readCurrent(ctx context.Context, p Participant, term uint64) (bool, error) {
	first, err := a.currentHead(ctx, p.Node, a.budget())
	if err != nil {
		return false, err
	}
	if first.Owner != p.Owner || first.Resigned || term != 0 && first.Term != term {
		return false, nil
	}
	if err := a.checkEvidence(ctx, first); err != nil {
		return false, err
	}
	second, err := a.currentHead(ctx, p.Node, a.budget())
	return err == nil && second.heldBy(first), err
}

// checkEvidence checks that a takeover by the head's owner began the head's term, unless the term
// is the first.
func (a *Authority) checkEvidence(ctx context.Context, h head) error {
	if h.Term == 1 {
		return nil
	}
	f, found, err := a.evidence(ctx, h.Node, successorKey(h.Node, h.Term), a.budget())
	switch {
	case err != nil:
		return err
	case !found:
		return missing(fmt.Sprintf("term %d has no evidence", h.Term))
	case f.Successor.Owner != h.Owner || f.Successor.Seq > h.Seq:
		return invalid("the evidence of term %d has another owner or a later seq than the head", h.Term)
	}
	return nil
}
