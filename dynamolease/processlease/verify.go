package processlease

import (
	"context"
	"fmt"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// VerifyFence tells whether a fence holds: it is true if the table has both of its records just as they are in it, and
// the boot that it superseded does not hold the lease. It is false only if that boot does.
//
// Evidence that is not there is [ErrMissing], and evidence that says something else [ErrInvalid]: neither is a false.
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

// checkStands checks that the table has the fence under this key.
func (a *Authority) checkStands(ctx context.Context, fence Fence, k rowstore.Key) error {
	f, found, err := a.evidence(ctx, fence.Successor.Node, k, a.budget())
	switch {
	case err != nil:
		return err
	case !found:
		return missing("the table has no fence " + k.SK)
	case !f.equal(fence):
		return invalid("the fence %s in the table is another one", k.SK)
	}
	return nil
}

// checkSuperseded tells whether the head is not with the boot that was superseded.
func (a *Authority) checkSuperseded(ctx context.Context, fence Fence) (bool, error) {
	current, err := a.currentHead(ctx, fence.Successor.Node)
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

// VerifyCurrentParticipant tells whether a boot holds its node's lease now, in a term that is proven: its first, or
// one with the evidence of the takeover that began it. It reads the head, the evidence and the head again, and is false if
// a takeover came in between, and once the boot has resigned. Renewals meanwhile change nothing.
//
// It is an [ErrMissing] if the node has no head or the term no evidence, and an [ErrInvalid] if that contradicts the head.
//
// The answer is as old as the second reading. It says nothing of what the boot itself believes, nor for how long.
func (a *Authority) VerifyCurrentParticipant(ctx context.Context, participant Participant) (bool, error) {
	return a.verifyCurrent(ctx, participant, 0)
}

// VerifyCurrentParticipantTerm is [Authority.VerifyCurrentParticipant] for one term: it is false as well if the boot
// holds the lease in another one. The term must not be 0.
func (a *Authority) VerifyCurrentParticipantTerm(ctx context.Context, participant Participant, term uint64) (bool, error) {
	if term == 0 {
		return false, &dynamolease.ArgumentError{Argument: "term", Problem: "must not be 0"}
	}
	return a.verifyCurrent(ctx, participant, term)
}

// verifyCurrent takes term 0 for any.
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
	first, err := a.currentHead(ctx, p.Node)
	if err != nil {
		return false, err
	}
	if first.Owner != p.Owner || first.Resigned || term != 0 && first.Term != term {
		return false, nil
	}
	if err := a.checkEvidence(ctx, first); err != nil {
		return false, err
	}
	second, err := a.currentHead(ctx, p.Node)
	return err == nil && second.heldBy(first), err
}

// checkEvidence checks that the term of a head was begun by a takeover of its owner, unless it is the first.
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
		return invalid("the evidence of term %d is of another owner or a later seq than the head", h.Term)
	}
	return nil
}

// currentHead reads the head of a node, which must be there.
func (a *Authority) currentHead(ctx context.Context, node string) (head, error) {
	row, err := a.get(ctx, headKey(node), a.budget())
	if err != nil {
		return head{}, err
	}
	h, err := decodeHead(node, row)
	if err == nil && !h.exists() {
		err = missing("the node has no head")
	}
	return h, err
}
