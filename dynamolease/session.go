package dynamolease

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// ErrSessionLost is returned when a session has expired, or its row is gone. It is over for good, and so are its leases:
// stop the work that they cover, and open another.
var ErrSessionLost = errors.New("session lost")

// ErrSessionClosed is returned when a session was closed by its own process.
var ErrSessionClosed = errors.New("session closed")

// A Session is one life of a node in a service. It is a member like one by [Store.Heartbeat], and one write, its own
// heartbeat, keeps any number of leases: those that were acquired in it live as long as it does.
//
//   - Call Heartbeat each round, a third of the ttl apart. A session that once expired is never extended.
//   - A lease of the session has as much left as the session, [Session.Remaining]. Done is closed when that is over.
//   - Nobody can take a lease of the session over while its row is there and has not surely expired: taking over checks
//     the row in the same transaction, so that a heartbeat that lands first makes it fail.
//
// It is safe for concurrent use. It has no goroutine.
type Session struct {
	store *Store
	node  string
	ttl   time.Duration
	row   memberRow // as it was opened
	term  *term

	signals atomic.Int64

	calls *keyedLock // one heartbeat at a time, and one acquisition or release of a lease

	mu      sync.Mutex
	held    map[key]*grip // leases that were acquired and not released
	revoked map[key]int64 // epochs of leases that it was told to give up, whether it held them or not
	cause   error         // why it is over; nil before
	alarm   *time.Timer   // at the end of the term
	done    chan struct{}
}

// OpenSession makes node a member of a service for ttl (1 s to a year), reachable at address and taking part in groups,
// by a session of its own. Another session of the same node, of a process that was there before, stays as it is: its
// leases are its own until it ends. [Store.Members] lists the node once, by its newest session.
//
// The error wraps [ErrUnknownOutcome] when nothing tells whether the session was opened. The store then marks it as left in
// the background. Other errors: [ArgumentError], [SetupError], the context's, or the SDK's, after retries for at most half the ttl.
func (s *Store) OpenSession(ctx context.Context, service, node, address string, ttl time.Duration, groups ...string) (*Session, error) {
	err := firstError(checkName("service", service), checkNode(node), checkName("address", address), checkTTL(ttl), checkGroups(groups))
	if err != nil {
		return nil, s.explain(err, "open session")
	}
	newest, err := s.newestSession(ctx, service, node, ttl)
	if err != nil {
		return nil, s.explain(err, "open session of %s in %s", node, service)
	}
	id := node + "#" + uuid.NewString()
	row := memberRow{key: sessionKey(service, id), node: node, address: address, groups: sortedSet(groups), session: id}
	done, err := settle(ctx, s, change[memberRow]{
		key: row.key, rows: s.members, decode: decodeMember, ttl: ttl,
		seen:   &sighting[memberRow]{}, // the id is new, and so there is no row
		hidden: func(row memberRow) bool { return row.rev != "" },
		propose: func(_ sighting[memberRow], at moment) (proposal[memberRow], error) {
			next := row
			next.opened = max(at.latest(), newest+1)
			next.exp = at.expiry(ttl)
			next.ttl = cleanup(next.exp, memberRetention)
			return proposal[memberRow]{action: write, next: next}, nil
		},
	})
	if err != nil {
		s.abandonSession(ctx, row.key, err)
		return nil, s.explain(err, "open session of %s in %s", node, service)
	}
	s.members.keep(row.key, done.seen, done.applied.at)
	session := &Session{
		store: s, node: node, ttl: ttl, row: done.seen.row,
		term: &term{clock: &s.timing.node}, calls: newKeyedLock(), held: make(map[key]*grip), revoked: make(map[key]int64), done: make(chan struct{}),
	}
	session.extend(done)
	return session, nil
}

// abandonSession takes a session off the members, in the background, when nothing tells whether it was opened: nobody
// would be there to do its share of the work.
func (s *Store) abandonSession(ctx context.Context, k key, err error) {
	if !errors.Is(err, ErrUnknownOutcome) {
		return
	}
	s.background.run(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		if err := s.leave(ctx, k); err != nil {
			s.logger.WarnContext(ctx, "dynamolease: an abandoned session stays a member until it expires", "session", k.sk, "err", err)
		}
	})
}

// newestSession is when the newest session of a node was opened. A process that restarts within the doubt about the
// store's time must come after it all the same.
func (s *Store) newestSession(ctx context.Context, service, node string, ttl time.Duration) (opened int64, err error) {
	found, _, err := query(ctx, s, rowsOfNode(memberKey(service, node)), s.budget(ttl), ttl, tolerant(decodeMember))
	rows, _, _ := sift(found) // one that is malformed is not listed, however new it is
	for _, row := range rows {
		if row.node == node {
			opened = max(opened, row.opened)
		}
	}
	return opened, err
}

// Node is the node's name, and ID the session's, as it stands in [Member] and [Lease].
func (s *Session) Node() string { return s.node }

// ID is the session's name: the node, '#', and what tells it from other sessions of the node.
func (s *Session) ID() string { return s.row.session }

// Remaining is how long this process may still count on the session and its leases: until ttl after its latest
// successful heartbeat began, on this node's own elapsed-time clock. It is zero once the session is over.
func (s *Session) Remaining() time.Duration { return s.term.remaining() }

// Done is closed when the session is over: it expired, its row is gone, or it was closed. Where the machine was
// suspended that comes when its timers wake; Remaining is zero before.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err is why the session is over: [ErrSessionLost], possibly wrapped, or [ErrSessionClosed]; nil before Done is closed.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cause
}

// Heartbeat extends the session, and with it all its leases, to ttl from now. It is one write.
//
// The error is [ErrSessionLost] when the session expired or its row is gone, also when the answer came too late. Any
// other error leaves the session as long as it was: try again. The error wraps [ErrUnknownOutcome] when nothing tells
// whether the heartbeat was written.
func (s *Session) Heartbeat(ctx context.Context) (Member, error) {
	unlock, err := s.calls.lock(ctx, s.row.key)
	if err != nil {
		return Member{}, s.store.explain(err, "heartbeat of session %s", s.ID())
	}
	defer unlock()
	if err := s.Err(); err != nil {
		return Member{}, s.store.explain(err, "heartbeat of session %s", s.ID())
	}
	done, err := settle(ctx, s.store, change[memberRow]{
		key: s.row.key, rows: s.store.members, decode: decodeMember, ttl: s.ttl, start: always, propose: s.propose,
		hidden: func(row memberRow) bool { return row.exp > s.term.exp.Load() },
	})
	switch {
	case errors.Is(err, ErrSessionLost), s.term.remaining() == 0:
		// An answer that comes after the session's own end does not bring it back, although the row may say so.
		s.end(ErrSessionLost)
		return Member{}, s.store.explain(s.Err(), "heartbeat of session %s", s.ID())
	case err != nil:
		return Member{}, s.store.explain(err, "heartbeat of session %s", s.ID())
	}
	s.store.members.keep(s.row.key, done.seen, done.applied.at)
	s.extend(done)
	return done.seen.row.member(), nil
}

// Signal has the session's next heartbeat tell the other members that there is something to look at, such as a partition
// that has come free out of turn: [Member.Signals] is greater then. It sends nothing by itself, and costs nothing. Whoever
// sees the greater number sees everything, too, that this process had written before the call.
//
// Coordinators count on a session that has signalled once to do so whenever it gives up a lease out of turn. While others hold
// leases of a group, they look at its owners every now and then.
func (s *Session) Signal() { s.signals.Add(1) }

// Leave takes the node off the members at once, so that others do its share of the work as it is released. The session
// lives on, and its leases with it, for as long as heartbeats are sent: call it when the work is about to be stopped, and
// [Session.Close] when it has.
func (s *Session) Leave(ctx context.Context) error {
	unlock, err := s.calls.lock(ctx, s.row.key)
	if err != nil {
		return s.store.explain(err, "leave of session %s", s.ID())
	}
	defer unlock()
	return s.store.explain(s.store.leave(ctx, s.row.key), "leave of session %s", s.ID())
}

// propose extends the row as it is, if it is there and has not expired, neither by the store's clock nor by ours. What
// others wrote into it (that the node has left) stays, but for leases to give up: that is done before the heartbeat.
func (s *Session) propose(seen sighting[memberRow], at moment) (proposal[memberRow], error) {
	next := seen.row
	if !next.live(at) || s.term.remaining() == 0 {
		return proposal[memberRow]{}, ErrSessionLost
	}
	s.revoke(next.revoked)
	next.revoked = nil
	next.signals = max(next.signals, s.signals.Load())
	next.exp = max(next.exp, at.expiry(s.ttl))
	next.ttl = cleanup(next.exp, memberRetention)
	return proposal[memberRow]{action: write, next: next}, nil
}

// extend moves the end of the session to where a heartbeat that was applied has put it.
func (s *Session) extend(done settled[memberRow]) {
	until := done.applied.at.tenure(s.ttl, done.seen.row.exp, done.answer).until
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cause != nil {
		return
	}
	s.term.until.Store(int64(until))
	s.term.exp.Store(done.seen.row.exp)
	if s.alarm == nil {
		s.alarm = time.AfterFunc(s.term.remaining(), s.expire)
	} else {
		s.alarm.Reset(s.term.remaining())
	}
}

// expire is called when the session's time may be over. A heartbeat may have extended it meanwhile.
func (s *Session) expire() {
	if left := s.term.remaining(); left > 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.cause == nil {
			s.alarm.Reset(left)
		}
		return
	}
	s.end(ErrSessionLost)
}

// end ends the session for good, once, and reports whether it was not over before.
func (s *Session) end(cause error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cause != nil {
		return false
	}
	s.cause = cause
	s.term.over.Store(true)
	s.alarm.Stop()
	close(s.done)
	return true
}
