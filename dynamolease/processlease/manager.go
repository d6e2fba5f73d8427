package processlease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// retryDelay is how long a manager waits after a request that failed, if its interval is not shorter.
const retryDelay = 250 * time.Millisecond

// ManagerOptions say how a [Manager] works. The zero value of each field stands for its default.
type ManagerOptions struct {
	// Interval is the time from one renewal to the next. It must be below the ttl; leave room for several failures.
	// Defaults to a fifth of the ttl.
	Interval time.Duration
}

// A Manager renews the lease that this boot has acquired, and knows when it is over. It ends, for good, when another boot
// is seen to hold the lease, when the deadline has passed without a renewal that was answered before it, and when it is
// told to. Its methods may be called concurrently.
type Manager struct {
	store    *Store
	acquired *acquired
	own      head // as it was acquired
	interval time.Duration
	validity *validity
	lease    atomic.Pointer[Lease]

	cancel  context.CancelCauseFunc // of the requests
	done    chan struct{}
	cause   error // set before done is closed
	ending  sync.Once
	running sync.WaitGroup
}

// NewManager begins to renew a lease that was just acquired. It renews until ctx ends, until Close or Resign, or until the
// lease is lost. Call Close or Resign in the end.
//
// The error is a [dynamolease.ArgumentError] if the outcome is not that of a call that acquired the lease, if a manager of
// it resigned or saw another boot hold the lease, or if an option cannot be used, and [ErrDeadline] if the lease has run out already.
func NewManager(ctx context.Context, acquired Outcome, optFns ...func(*ManagerOptions)) (*Manager, error) {
	if !acquired.Acquired || acquired.own == nil {
		return nil, &dynamolease.ArgumentError{Argument: "acquired", Problem: "must be the outcome of a call that acquired the lease"}
	}
	own := acquired.own
	if own.over.Load() {
		return nil, &dynamolease.ArgumentError{Argument: "acquired", Problem: "was resigned or lost already: acquire again, with a new owner"}
	}
	a := own.store.authority
	o := ManagerOptions{Interval: a.ttl / 5}
	for _, fn := range optFns {
		fn(&o)
	}
	if o.Interval <= 0 || o.Interval >= a.ttl {
		return nil, &dynamolease.ArgumentError{Argument: "ManagerOptions.Interval", Problem: fmt.Sprintf("%v must be positive and below the ttl, %v", o.Interval, a.ttl)}
	}
	m := &Manager{
		store:    own.store,
		acquired: own,
		own:      own.head,
		interval: o.Interval,
		validity: newValidity(a.quick, own.start.Max+a.ttl),
		done:     make(chan struct{}),
	}
	m.lease.Store(&own.head.Lease)
	if !m.Valid() {
		return nil, fmt.Errorf("%w: %v have passed since the lease was asked for", ErrDeadline, a.clock().Max-own.start.Max)
	}
	ctx, m.cancel = context.WithCancelCause(ctx)
	m.running.Go(func() { m.watch(ctx) })
	m.running.Go(func() { m.renew(ctx, own.start.Max+o.Interval) })
	return m, nil
}

// Lease is the record of this boot as it was written last.
func (m *Manager) Lease() Lease { return *m.lease.Load() }

// Valid tells whether this boot holds its lease still. It is for hot paths: it takes no lock, makes no request and
// allocates nothing. Once it was false it is never true again.
//
// It looks at a clock each time, so that a process that was stopped, or a machine that was suspended, past the deadline
// gets false from the first call after that. See "What is not promised" in the package documentation.
func (m *Manager) Valid() bool { return m.validity.valid() }

// Remaining is how long this boot may believe in its lease unless it is renewed. It counts with every clock of the node,
// and takes longer than Valid.
func (m *Manager) Remaining() time.Duration { return m.validity.remaining() }

// Done is closed when the lease is over. Valid is false by then.
func (m *Manager) Done() <-chan struct{} { return m.done }

// Err is why the lease is over: a [HeldError] if another boot holds it, [ErrDeadline] if it ran out, [ErrStopped] if the
// manager was told to end. It is nil for as long as Valid is true, and never once it was false: Done is closed by then, if need
// be by this call, as Valid finds out about a stop of the process before the manager's own goroutines do.
func (m *Manager) Err() error {
	if m.Valid() {
		return nil
	}
	m.expire()
	return m.cause
}

// Close ends the manager, if it has not ended, and returns when its goroutines have. The lease stays in the table as it
// is, so that the next boot has to wait for a ttl; Resign spares it that. Close may be called more than once.
func (m *Manager) Close() {
	m.end(ErrStopped)
	m.running.Wait()
}

// Resign closes the manager and then marks the lease in the table as given up: the next boot takes over at once. Stop
// all work that needs the lease before. Where another boot has taken over already there is nothing to do.
//
// With an error the mark may not be there, and the next boot waits as after Close.
func (m *Manager) Resign(ctx context.Context) error {
	m.acquired.over.Store(true)
	m.Close()
	return m.store.resign(ctx, m.own)
}

// end publishes the cause, once. Who sees Done closed finds Valid false.
func (m *Manager) end(cause error) {
	first := false
	m.ending.Do(func() {
		m.validity.end()
		m.cause = cause
		m.cancel(cause)
		close(m.done)
		first = true
	})
	if !first || errors.Is(cause, ErrStopped) {
		return
	}
	m.store.authority.logger.Error("processlease: the lease is lost", "node", m.own.Node, "owner", m.own.Owner, "term", m.own.Term, "err", cause)
}
