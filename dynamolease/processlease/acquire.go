package processlease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// Acquire does what a program has to do when it starts: it acquires the lease for owner, or else observes the boot that
// holds it and takes over. It tries again after failures that may pass, and looks every fifth of a ttl whether the
// holder is alive or has resigned. Each request is bounded. All of it ends after budget, which must be positive: to take
// over from a boot that died takes a little more than a ttl.
//
// The error is [ErrDeadline] when the budget is used up, or the context's; either comes with the reason that kept it
// from acquiring last, such as a [HeldError]. What does not pass, such as [ErrInvalid] or a [dynamolease.SetupError],
// is returned at once; with [ErrSuperseded] among them, call again with a new owner. Any of them is [dynamolease.ErrUnknownOutcome] too if a write was never answered and the record not
// seen since.
func (s *Store) Acquire(ctx context.Context, owner uuid.UUID, budget time.Duration) (Outcome, error) {
	if err := checkOwner(owner); err != nil {
		return Outcome{}, s.explain(err, "acquire")
	}
	if budget <= 0 {
		return Outcome{}, s.explain(&dynamolease.ArgumentError{Argument: "budget", Problem: "must be positive"}, "acquire")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, budget, fmt.Errorf("%w: not acquired within %v", ErrDeadline, budget))
	defer cancel()
	a := &acquisition{store: s, owner: owner}
	for {
		out, reason := a.step(ctx)
		switch {
		case out.Acquired:
			return out, nil
		case !mayPass(reason):
			return Outcome{}, s.explain(a.failed(reason), "acquire")
		}
		if err := a.pause(ctx, reason); err != nil {
			return Outcome{}, s.explain(a.failed(fmt.Errorf("%w: last: %w", err, reason)), "acquire")
		}
	}
}

// An acquisition is one call of Acquire.
type acquisition struct {
	store    *Store
	owner    uuid.UUID
	observed Observation // of the boot that held the lease when last seen
	unknown  bool        // a write was not answered, and the record was not seen since
}

// failed is the error of the whole, with what an earlier step left open.
func (a *acquisition) failed(err error) error {
	if errors.Is(err, ErrSuperseded) {
		return err // whatever was written, it is over
	}
	if a.unknown && !errors.Is(err, dynamolease.ErrUnknownOutcome) {
		return fmt.Errorf("%w: %w", dynamolease.ErrUnknownOutcome, err)
	}
	return err
}

// step does what is next, once. Its error says why the lease is not acquired.
func (a *acquisition) step(ctx context.Context) (Outcome, error) {
	out, err := a.next(ctx)
	var held *HeldError
	a.unknown = !errors.As(err, &held) && (a.unknown || errors.Is(err, dynamolease.ErrUnknownOutcome))
	return out, err
}

func (a *acquisition) next(ctx context.Context) (Outcome, error) {
	if a.observed.store != nil && a.observed.Remaining() == 0 {
		out, err := a.store.tryTakeover(ctx, a.observed, a.store.budget())
		if err != nil || out.Acquired {
			return out, err // after a failure the observation is as good as before
		}
		a.observed = Observation{}
	}
	out, err := a.store.tryAcquire(ctx, a.owner)
	if err != nil || out.Acquired {
		return out, err
	}
	if out.Lease != a.observed.head.Lease {
		if a.observed, err = a.store.observeRival(ctx, a.owner); err != nil {
			return Outcome{}, err
		}
	}
	return Outcome{}, &HeldError{a.observed.head.Lease}
}

// pause waits for the observation to end, or for the next look at the holder, whichever is sooner.
func (a *acquisition) pause(ctx context.Context, reason error) error {
	look := a.store.authority.ttl / 5
	var held *HeldError
	if !errors.As(reason, &held) {
		return sleep(ctx, min(retryDelay, look))
	}
	return sleep(ctx, min(a.observed.Remaining(), look))
}

// mayPass tells whether a reason may be gone when tried again.
func mayPass(reason error) bool {
	var setup *dynamolease.SetupError
	var argument *dynamolease.ArgumentError
	return !errors.Is(reason, ErrInvalid) && !errors.As(reason, &setup) && !errors.As(reason, &argument)
}
