package processlease

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/internal/request"
	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// An Identity is the stable identity of one node, for which boots compete. It reads and writes the
// lease of it, and is safe for concurrent use. Make it with [Authority.Identity].
type Identity struct {
	authority *Authority
	node      string
	heads     *rowstore.Cache[headWrite] // the head as this process last wrote it, and pending writes
	attempts  attempts
}

// Identity returns the identity of a node. It makes no request. The error is a
// [dynamolease.ArgumentError] if node cannot be part of a key.
func (a *Authority) Identity(node string) (*Identity, error) {
	if err := checkNode(node); err != nil {
		return nil, err
	}
	return a.identity(node), nil
}

func (a *Authority) identity(node string) *Identity {
	never := func(headWrite, int64) bool { return false }
	return &Identity{authority: a, node: node, heads: rowstore.NewCache(never)}
}

// budget returns the bound on the attempts of a call, in addition to its context.
func (s *Identity) budget() *request.Budget { return s.authority.budget() }

// Load returns the current record of the node, from a strongly consistent read. If there is none,
// found is false.
func (s *Identity) Load(ctx context.Context) (lease Record, found bool, err error) {
	h, err := s.authority.head(ctx, s.node, s.budget())
	return h.Record, h.exists(), s.explain(err, "load")
}

// checkFresh returns [ErrSuperseded] for an owner that was superseded, also if somebody deleted the
// head since. If such an owner got the lease again, nobody could supersede it a second time, because
// its fence is already in the table. The node could then never have another owner.
//
// Call checkFresh after a read of the head: the answer stays true for as long as that head does.
func (s *Identity) checkFresh(ctx context.Context, owner uuid.UUID, budget *request.Budget) error {
	f, found, err := s.authority.evidence(ctx, s.node, predecessorKey(s.node, owner), budget)
	if found {
		return fmt.Errorf("%w: %v by %v", ErrSuperseded, owner, f.Successor)
	}
	return err
}

func (s *Identity) explain(err error, operation string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s the lease of node %q: %w", operation, s.node, err)
}
