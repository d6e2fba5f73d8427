package processlease

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/internal/request"
	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// A Store keeps the lease of one node. It is safe for concurrent use. Make it with
// [Authority.StoreFor].
type Store struct {
	authority *Authority
	node      string
	heads     *rowstore.Cache[headWrite] // the head as this store wrote it last, and its pending writes
}

// budget bounds the attempts of a call, besides its context.
func (s *Store) budget() *request.Budget { return s.authority.budget() }

// Load reads the current record of the node, strongly consistent. Without one, found is false.
func (s *Store) Load(ctx context.Context) (lease Lease, found bool, err error) {
	h, err := s.read(ctx, s.budget())
	return h.Lease, h.exists(), s.explain(err, "load")
}

func (s *Store) read(ctx context.Context, budget *request.Budget) (head, error) {
	row, err := s.authority.get(ctx, headKey(s.node), budget)
	if err != nil {
		return head{}, err
	}
	return decodeHead(s.node, row)
}

// TryAcquire acquires the lease for owner if the node never had one, or if the boot that had it
// resigned; if owner has it already, it is renewed. Otherwise the outcome is the record of the boot
// that holds it, whatever expiry is in it: observe that boot ([Store.ObserveRival]) or let
// [Store.Acquire] do all of it.
//
// It costs one write unit if this store wrote the record last, and a read before otherwise; the
// takeover from a boot that resigned costs two reads and 6 write units. A lost answer is made up for:
// the own record, when it is found, is the success of the write that left it, or is renewed if an
// earlier call wrote it. So a caller that acquired has the lease for a ttl from when the call began, at
// the least. The call tries for about half the ttl, and may be repeated.
func (s *Store) TryAcquire(ctx context.Context, owner uuid.UUID) (Outcome, error) {
	out, err := s.tryAcquire(ctx, owner)
	return out, s.explain(err, "acquire")
}

func (s *Store) tryAcquire(ctx context.Context, owner uuid.UUID) (Outcome, error) {
	if err := checkOwner(owner); err != nil {
		return Outcome{}, err
	}
	c := s.change(owner)
	c.consult = func(ctx context.Context, seen head, budget *request.Budget) error {
		if !seen.exists() || seen.Owner == owner || !seen.Resigned {
			return nil
		}
		return s.checkFresh(ctx, owner, budget)
	}
	c.decide = func(seen head, _ bool) (headWrite, error) {
		switch {
		case !seen.exists():
			return headWrite{head: created(s.node, owner, s.authority.ttl)}, nil
		case seen.Owner == owner && seen.Resigned:
			return headWrite{}, fmt.Errorf("%w: %v", ErrSuperseded, owner)
		case seen.Owner == owner:
			next, err := seen.renewed(s.authority.ttl)
			return headWrite{head: next}, err
		case seen.Resigned:
			next, fence, err := seen.succeeded(owner, s.authority.ttl)
			return headWrite{next, fence}, err
		default:
			return headWrite{}, nil
		}
	}
	return c.do(ctx)
}

// checkFresh refuses an owner that was superseded, with [ErrSuperseded]. If it got the lease again it
// could never be superseded a second time, as its fence is there already, and the node would have no
// other owner ever after. Checked after the head was read, it stays true while that head does.
func (s *Store) checkFresh(ctx context.Context, owner uuid.UUID, budget *request.Budget) error {
	row, err := s.authority.get(ctx, predecessorKey(s.node, owner), budget)
	if err != nil {
		return err
	}
	if len(row) > 0 {
		return fmt.Errorf("%w: %v", ErrSuperseded, owner)
	}
	return nil
}

// renew makes one attempt at renewing exactly the owner's own term. The attempts before it, by the
// same Manager, count as its own: each of them counts from its own start.
func (s *Store) renew(ctx context.Context, own head, by *Manager) (Outcome, error) {
	c := s.change(own.Owner)
	c.by, c.budget = by, request.Once(2*s.authority.rows.Timeout(s.authority.ttl))
	c.decide = func(seen head, _ bool) (headWrite, error) {
		switch {
		case !seen.exists():
			return headWrite{}, missing("the head was deleted")
		case !seen.heldBy(own):
			return headWrite{}, nil
		}
		next, err := seen.renewed(s.authority.ttl)
		return headWrite{head: next}, err
	}
	out, err := c.do(ctx)
	return out, s.explain(err, "renew")
}

// resign marks the owner's own term as given up. It does nothing if that is over.
func (s *Store) resign(ctx context.Context, own head) error {
	c := s.change(own.Owner)
	c.decide = func(seen head, _ bool) (headWrite, error) {
		if !seen.heldBy(own) {
			return headWrite{}, nil
		}
		next, err := seen.resigned()
		return headWrite{head: next}, err
	}
	_, err := c.do(ctx)
	return s.explain(err, "resign")
}

func (s *Store) explain(err error, operation string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s the lease of node %q: %w", operation, s.node, err)
}
