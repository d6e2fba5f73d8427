package dynamolease

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/internal/request"
	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// A Session is one life of a node in a service. It is a member like one by [Store.Heartbeat], and
// one write, its own heartbeat, keeps any number of leases: those that were acquired in it live as
// long as it does.
//
//   - Call Heartbeat each round, a third of the ttl apart. A session that once expired is never
//     extended.
//   - A lease of the session has as much left as the session, [Session.Remaining]. Done is closed
//     when that is over.
//   - Nobody can take a lease of the session over before the session's row is surely dead and was
//     marked as over, or is gone. A heartbeat that lands first makes the mark fail.
//
// It is safe for concurrent use. It has no goroutine.
type Session struct {
	store    *Store
	node     string
	ttl      time.Duration
	row      memberRow // as it was opened
	validity *sessionValidity

	signals atomic.Int64
	leaving atomic.Bool // the node itself has taken the session off the members

	calls  *rowstore.KeyedLock // one heartbeat at a time, one closing, and one acquisition or release of a lease
	closed bool                // all is given up; under the lock of a closing

	mu      sync.Mutex
	held    map[rowstore.Key]*heldLease   // leases that were acquired and not released
	revoked map[rowstore.Key]revokedLease // that it was told to give up, whether it held them or not
	cause   error                         // why it is over; nil before

	unanswered error // of the latest heartbeat; nil if it was applied

	alarm *time.Timer // at the end of its validity
	done  chan struct{}
}

// OpenSession makes a node a member of its service for ttl (1 s to a year), by a session of its
// own. Another session of the node, of a process that was there before, stays as it is: its leases
// are its own until it ends. [Store.Members] lists the node once, by its newest process. A process
// that has lost its session goes on with [Session.Reopen].
//
// The error wraps [ErrUnknownOutcome] when it is unknown whether the session was opened. The store
// then marks it as left in the background. Other errors: [ArgumentError], [SetupError], the
// context's, or the SDK's, after retries for at most half the ttl.
func (s *Store) OpenSession(ctx context.Context, node Node, ttl time.Duration) (*Session, error) {
	if err := firstError(node.Validate(), checkTTL(ttl)); err != nil {
		return nil, s.explain(err, "open session")
	}
	budget := s.rows.First(ttl, ttl)
	newest, err := s.newestSession(ctx, node, budget, ttl)
	if err != nil {
		return nil, s.explain(err, "open session of %s in %s", node.Name, node.Service)
	}
	id := node.Name + "#" + uuid.NewString()
	row := node.row(sessionKey(node.Service, id))
	row.session, row.lasts = id, ceilMillis(ttl) // no less than the session counts on
	session, err := s.openSession(ctx, row, ttl, newest, budget)
	return session, s.explain(err, "open session of %s in %s", node.Name, node.Service)
}

// openSession writes the row of a new session, opened after an earlier one of its node.
func (s *Store) openSession(ctx context.Context, row memberRow, ttl time.Duration, earlier int64, budget *request.Budget) (*Session, error) {
	done, err := rowstore.Change[memberRow]{
		Key: row.key, Cache: s.members, Decode: decodeMember, TTL: ttl, Budget: budget,
		Seen:   &rowstore.Known[memberRow]{}, // the id is new, and so there is no row
		Hidden: func(row memberRow) bool { return row.rev != "" },
		Propose: func(_ rowstore.Known[memberRow], at rowstore.Moment) (rowstore.Proposal[memberRow], error) {
			next := row.extended(ttl, at)
			next.opened = max(at.Latest(), earlier+1)
			return rowstore.Write(next), nil
		},
	}.Do(ctx, s.rows)
	if err != nil {
		s.abandonSession(ctx, row.key, err)
		return nil, err
	}
	s.members.Keep(row.key, done.Known, done.Applied.At)
	session := &Session{
		store: s, node: row.node, ttl: ttl, row: done.Known.Row, validity: &sessionValidity{time: s.rows.Time},
		calls: rowstore.NewKeyedLock(), held: make(map[rowstore.Key]*heldLease), revoked: make(map[rowstore.Key]revokedLease),
		done: make(chan struct{}),
	}
	session.extend(done)
	return session, nil
}

// abandonSession takes a session off the members, in the background, when it is unknown whether it
// was opened: nobody would be there to do its share of the work.
func (s *Store) abandonSession(ctx context.Context, k rowstore.Key, err error) {
	if !errors.Is(err, ErrUnknownOutcome) {
		return
	}
	s.background.run(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rowstore.Patience)
		defer cancel()
		if err := s.leave(ctx, k, 0, 0); err != nil {
			s.beside.WarnContext(ctx, "dynamolease: an abandoned session stays a member until it expires", "session", k.SK, "err", err)
		}
	})
}

// newestSession returns when the latest session of a node was opened. A process that restarts
// within the doubt about the store's time must come after it all the same.
func (s *Store) newestSession(ctx context.Context, node Node, budget *request.Budget, ttl time.Duration) (opened int64, err error) {
	rows := rowsOfNode(memberKey(node.Service, node.Name))
	found, _, err := rowstore.Query(ctx, s.rows, rows, budget, ttl, rowstore.Tolerant(decodeMember))
	sessions, _, _ := rowstore.Sift(found) // a malformed one is not listed, however new it is
	for _, row := range sessions {
		if row.node == node.Name {
			opened = max(opened, row.opened)
		}
	}
	return opened, err
}

// Node returns the node's name.
func (s *Session) Node() string { return s.node }

// ID returns the session's name, as it stands in [Member] and [Lease]: the node, '#', and what
// tells it from other sessions of the node.
func (s *Session) ID() string { return s.row.session }

// Remaining returns how long this process may still count on the session and its leases: until ttl
// after its latest successful heartbeat began, on this node's own elapsed-time clock. It is zero
// once the session is over.
func (s *Session) Remaining() time.Duration { return s.validity.remaining() }

// Done returns a channel that is closed when the session is over: it expired, its row is gone, or
// it was closed. If the machine was suspended, that comes when its timers wake; Remaining is zero
// before.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err returns why the session is over: [ErrSessionClosed], or [ErrSessionLost] with a [LossError]
// that says how; nil before Done is closed.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cause
}

// extend moves the end of the session to where a heartbeat that was applied has put it.
func (s *Session) extend(done rowstore.Changed[memberRow]) {
	until := done.Applied.At.Until(s.ttl, done.Known.Row.exp, done.Answer)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cause != nil {
		return
	}
	s.validity.until.Store(int64(until))
	s.validity.exp.Store(done.Known.Row.exp)
	if s.alarm == nil {
		s.alarm = time.AfterFunc(s.validity.remaining(), s.expire)
	} else {
		s.alarm.Reset(s.validity.remaining())
	}
}

// expire is called when the session's time may be over. A heartbeat may have extended it meanwhile.
func (s *Session) expire() {
	if left := s.validity.remaining(); left > 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.cause == nil {
			s.alarm.Reset(left)
		}
		return
	}
	s.end(s.expired())
}

// end ends the session for good, once, and reports whether it was not over before.
func (s *Session) end(cause error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cause != nil {
		return false
	}
	s.cause = cause
	s.validity.over.Store(true)
	s.alarm.Stop()
	close(s.done)
	return true
}

// maxLate is by how much a timer comes late at the most, unless the process stood still.
const maxLate = time.Second

// errNotAnswered is what is behind the end of a session whose heartbeat is on its way still.
var errNotAnswered = errors.New("a heartbeat was not answered yet")

// expired returns why the session's time is over: the process stood still, or its heartbeats did not
// get through, or it sent none.
func (s *Session) expired() error {
	late := s.store.rows.Time.Elapsed().Max - time.Duration(s.validity.until.Load())
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case late > min(maxLate, s.ttl/4):
		return sessionLost(LossSuspended, nil)
	case s.unanswered != nil:
		return sessionLost(LossUnreachable, s.unanswered)
	default:
		return sessionLost(LossExpired, nil)
	}
}

// attempted notes what became of the latest heartbeat: errNotAnswered while it is on its way, nil
// once it was applied.
func (s *Session) attempted(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unanswered = err
}
