package processlease

import (
	"context"
	"fmt"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// ManagerOptions configure a [Manager]. The zero value of each field stands for its default.
type ManagerOptions struct {
	// Interval is the time from one renewal to the next. It must be below the ttl. Leave time for
	// several failures. Defaults to a fifth of the ttl.
	Interval time.Duration
}

// NewManager begins to renew a lease that this boot has just acquired. The manager renews until ctx
// ends, until Close or Resign, or until the lease is lost. Call Close or Resign in the end.
//
// An owner has one valid manager at a time for each [Authority]. The error is a
// [dynamolease.ArgumentError] if
//
//   - the result is not from a call that acquired the lease,
//   - the owner has a manager that is valid,
//   - an earlier manager of the owner resigned, or saw that another boot holds the lease,
//   - an earlier manager of the owner began with this result, or renewed after it, or
//   - an option cannot be used.
//
// The error is [ErrDeadline] if the lease has already run out.
func NewManager(ctx context.Context, acquired Result, optFns ...func(*ManagerOptions)) (*Manager, error) {
	if !acquired.Acquired || acquired.own == nil {
		return nil, &dynamolease.ArgumentError{Argument: "acquired", Problem: "must be the result of a call that acquired the lease"}
	}
	own := acquired.own
	a := own.identity.authority
	o := ManagerOptions{Interval: a.ttl / 5}
	for _, fn := range optFns {
		fn(&o)
	}
	if o.Interval <= 0 || o.Interval >= a.ttl {
		return nil, &dynamolease.ArgumentError{Argument: "ManagerOptions.Interval", Problem: fmt.Sprintf("%v must be positive and below the ttl, %v", o.Interval, a.ttl)}
	}
	m := &Manager{
		identity: own.identity,
		acquired: own,
		own:      own.head,
		interval: o.Interval,
		validity: newValidity(a.quick, own.start.Max+a.ttl),
		done:     make(chan struct{}),
	}
	m.lease.Store(&own.head.Record)
	own.boot.mu.Lock() // until the manager can be closed
	defer own.boot.mu.Unlock()
	if err := own.boot.check(); err != nil {
		return nil, err
	}
	if !m.Valid() {
		return nil, fmt.Errorf("%w: %v have passed since the call asked for the lease", ErrDeadline, a.clock().Max-own.start.Max)
	}
	if err := own.boot.checkNewer(own.number); err != nil {
		return nil, err
	}
	own.boot.manager, own.boot.used = m, own.number
	ctx, m.cancel = context.WithCancelCause(ctx)
	m.running.Go(func() { m.watch(ctx) })
	m.running.Go(func() { m.renew(ctx, own.start.Max+o.Interval) })
	return m, nil
}
