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

// Acquire is the call that a program makes when it starts. It acquires the lease for owner, or
// observes the boot that holds it and takes over (failover). It retries after failures that may
// be temporary. Every fifth of a ttl it checks whether the holder is alive or has resigned. Each
// request is bounded. The whole call ends after budget, which must be positive: a takeover from a
// boot that died takes a little more than a ttl.
//
// When the budget is used up, the error is [ErrDeadline], and a [context.DeadlineExceeded] as well;
// when the context ends, it is the context's error, and no ErrDeadline. Both wrap the last reason
// why Acquire did not get the lease, such as a [HeldError]. A failure that is not temporary, such as
// [ErrInvalid] or a [dynamolease.SetupError], is returned at once. If the error is [ErrSuperseded],
// call again with a new owner. Each of these errors, except ErrSuperseded, is also
// [dynamolease.ErrUnknownOutcome] if a write was never answered and Acquire has not seen the record
// since.
func (s *Identity) Acquire(ctx context.Context, owner uuid.UUID, budget time.Duration) (Result, error) {
	if err := checkOwner(owner); err != nil {
		return Result{}, s.explain(err, "acquire")
	}
	if budget <= 0 {
		return Result{}, s.explain(&dynamolease.ArgumentError{Argument: "budget", Problem: "must be positive"}, "acquire")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, budget, fmt.Errorf("%w: not acquired within %v", ErrDeadline, budget))
	defer cancel()
	a := &claim{identity: s, owner: owner}
	for {
		out, reason := a.step(ctx)
		switch {
		case out.Acquired:
			return out, nil
		case !mayPass(reason):
			return Result{}, s.explain(a.failed(reason), "acquire")
		}
		if err := a.pause(ctx, reason); err != nil {
			return Result{}, s.explain(a.failed(fmt.Errorf("%w: last: %w", err, reason)), "acquire")
		}
	}
}

// A claim is one call of Acquire.
type claim struct {
	identity *Identity
	owner    uuid.UUID
	observed Observation // of the boot that held the lease at the last look
	unknown  bool        // a write was not answered, and the call has not seen the record since
}

// failed returns the error of the whole call. It adds ErrUnknownOutcome if an earlier step left a
// write open.
func (a *claim) failed(err error) error {
	if errors.Is(err, ErrSuperseded) {
		return err // if a write was applied, its term is already over
	}
	if a.unknown && !errors.Is(err, dynamolease.ErrUnknownOutcome) {
		return fmt.Errorf("%w: %w", dynamolease.ErrUnknownOutcome, err)
	}
	return err
}

// step does the next step, once. Its error says why the call has not acquired the lease.
func (a *claim) step(ctx context.Context) (Result, error) {
	out, err := a.next(ctx)
	var held *HeldError
	a.unknown = !errors.As(err, &held) && (a.unknown || errors.Is(err, dynamolease.ErrUnknownOutcome))
	return out, err
}

func (a *claim) next(ctx context.Context) (Result, error) {
	if a.observed.identity != nil && a.observed.Remaining() == 0 {
		out, err := a.identity.tryTakeover(ctx, a.observed, a.identity.budget())
		if err != nil || out.Acquired {
			return out, err // the observation stays good after a failure
		}
		a.observed = Observation{}
	}
	out, err := a.identity.tryAcquire(ctx, a.owner)
	if err != nil || out.Acquired {
		return out, err
	}
	if out.Record != a.observed.head.Record {
		if a.observed, err = a.identity.observeRival(ctx, a.owner); err != nil {
			return Result{}, err
		}
	}
	return Result{}, &HeldError{a.observed.head.Record}
}

// pause waits for the end of the observation or for the next look at the holder, whichever is
// sooner.
func (a *claim) pause(ctx context.Context, reason error) error {
	look := a.identity.authority.ttl / 5
	var held *HeldError
	if !errors.As(reason, &held) {
		return request.Sleep(ctx, min(retryDelay, look))
	}
	return request.Sleep(ctx, min(a.observed.Remaining(), look))
}

// mayPass reports whether a retry may succeed.
func mayPass(reason error) bool {
	var setup *dynamolease.SetupError
	var argument *dynamolease.ArgumentError
	return !errors.Is(reason, ErrInvalid) && !errors.Is(reason, ErrSuperseded) && !errors.As(reason, &setup) && !errors.As(reason, &argument)
}
