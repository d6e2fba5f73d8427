package processlease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// A Manager renews the lease that this boot has acquired, and knows when the lease is over. Its end
// is final. It ends when
//
//   - it sees that another boot holds the lease, or
//   - the deadline passes before a renewal is answered, or
//   - the program ends it: by Close, by Resign, or by the end of its context.
//
// Its methods are safe for concurrent use.
type Manager struct {
	identity *Identity
	acquired *acquired
	own      head // as this boot acquired it
	interval time.Duration
	validity *validity
	lease    atomic.Pointer[Record]

	cancel  context.CancelCauseFunc // of the requests
	done    chan struct{}
	cause   error // set before done is closed
	ending  sync.Once
	running sync.WaitGroup
}

// Record returns the record of this boot as its last write left it.
func (m *Manager) Record() Record { return *m.lease.Load() }

// Valid reports whether this boot still holds its lease. It is for hot paths: it takes no lock
// (see "What Valid costs" in the package documentation for two options that change that), makes
// no request and allocates nothing. After the first false it never returns true again.
//
// Each call reads the clocks. So if the process is stopped, or the machine is suspended, until
// after the deadline, the first call after that returns false. See "What is not promised" in the
// package documentation.
func (m *Manager) Valid() bool { return m.validity.valid() }

// Remaining returns for how long this boot may believe in its lease without another renewal. It
// counts with every clock of the node, and takes longer than Valid.
func (m *Manager) Remaining() time.Duration { return m.validity.remaining() }

// Done returns a channel that is closed when the lease is over. Valid is false by then.
func (m *Manager) Done() <-chan struct{} { return m.done }

// Err returns the reason why the lease is over: a [HeldError] if another boot holds it,
// [ErrDeadline] if it ran out, [ErrStopped] if the program ended the manager.
//
// Err returns nil as long as Valid is true, and never after Valid was false. Done is closed when
// Err returns an error. If necessary, Err itself closes it: after a stop of the process, Valid
// notices before the manager's own goroutines do.
func (m *Manager) Err() error {
	if m.Valid() {
		return nil
	}
	m.expire()
	return m.cause
}

// Close ends the manager, if it has not ended, and waits until its goroutines have ended. The
// lease stays in the table unchanged, so the next boot must wait for a ttl. For a graceful
// shutdown, Resign spares it that wait. Close may be called more than once.
func (m *Manager) Close() {
	m.end(ErrStopped)
	m.running.Wait()
}

// Resign closes the manager and then marks the lease in the table as given up, so that the next
// boot takes over at once. Before you call it, stop all work that needs the lease. It is final for
// the owner: Resign also ends a later manager of it, and no other can begin. If another boot has
// already taken over, Resign writes nothing.
//
// If Resign returns nil, the lease is given up. If it returns an error, the mark may be missing, and
// the next boot then waits as after Close. Resign may be called until it returns nil.
func (m *Manager) Resign(ctx context.Context) error {
	m.acquired.boot.close()
	m.Close()
	return m.identity.resign(ctx, m.own)
}

// expire ends the manager because its deadline has passed.
func (m *Manager) expire() { m.end(fmt.Errorf("%w: the lease was not renewed in time", ErrDeadline)) }

// end publishes the cause, once. A caller that sees Done closed also sees Valid false.
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
	m.identity.authority.logger.Error("processlease: the lease is lost", "node", m.own.Node, "owner", m.own.Owner, "term", m.own.Term, "err", cause)
}
