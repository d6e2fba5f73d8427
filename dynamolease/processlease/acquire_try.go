package processlease

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/internal/request"
)

// TryAcquire acquires the lease for owner if the node never had one, or if the boot that had it
// resigned. If owner already has the lease, TryAcquire renews it. Otherwise the outcome is the
// record of the boot that holds the lease, whatever expiry is in it: observe that boot
// ([Identity.ObserveRival]), or let [Identity.Acquire] do all of it.
//
// TryAcquire costs one write unit if this process was the last to write the record, and one read more
// otherwise. The first acquisition of a node costs two reads and one write unit, and a takeover from
// a boot that resigned two reads and 6 write units.
//
// The call makes up for lost answers. If it finds the owner's own record, that record is the
// success of the attempt of this call that left it; if an earlier call left it, TryAcquire renews
// it. So a caller that acquired has the lease for at least a ttl from the start of the call. The
// call retries for about half the ttl. It may be repeated.
func (s *Identity) TryAcquire(ctx context.Context, owner uuid.UUID) (Result, error) {
	out, err := s.tryAcquire(ctx, owner)
	return out, s.explain(err, "acquire")
}

func (s *Identity) tryAcquire(ctx context.Context, owner uuid.UUID) (Result, error) {
	if err := checkOwner(owner); err != nil {
		return Result{}, err
	}
	c := s.change(owner)
	c.consult = func(ctx context.Context, seen head, budget *request.Budget) error {
		if seen.exists() && (seen.Owner == owner || !seen.Resigned) {
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
