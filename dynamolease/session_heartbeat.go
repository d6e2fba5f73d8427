package dynamolease

import (
	"context"
	"errors"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// Heartbeat extends the session, and with it all its leases, to ttl from now. It is one write.
//
// The error is [ErrSessionLost] when the session expired or its row is gone, also when the answer
// came too late. Any other error leaves the session as long as it was: try again. The error wraps
// [ErrUnknownOutcome] when it is unknown whether the heartbeat was written.
func (s *Session) Heartbeat(ctx context.Context) (Member, error) {
	unlock, err := s.calls.Lock(ctx, s.row.key)
	if err != nil {
		return Member{}, s.store.explain(err, "heartbeat of session %s", s.ID())
	}
	defer unlock()
	if err := s.Err(); err != nil {
		return Member{}, s.store.explain(err, "heartbeat of session %s", s.ID())
	}
	s.attempted(errNotAnswered)
	known, _ := s.store.members.Recall(s.row.key)
	done, err := rowstore.Change[memberRow]{
		Key: s.row.key, Cache: s.store.members, Decode: decodeMember, TTL: s.ttl, Start: rowstore.Always[memberRow],
		Budget:  s.store.rows.First(s.ttl, s.validity.remaining()),
		Hidden:  func(row memberRow) bool { return row.rev != known.Row.rev },
		Propose: s.propose,
	}.Do(ctx, s.store.rows)
	s.attempted(err)
	var loss *LossError
	switch {
	case errors.As(err, &loss):
		s.end(sessionLost(loss.Reason, loss.Err))
		return Member{}, s.store.explain(s.Err(), "heartbeat of session %s", s.ID())
	case s.validity.remaining() == 0:
		// An answer that comes after the session's own end does not bring it back, although the row may
		// say so.
		s.end(s.expired())
		return Member{}, s.store.explain(s.Err(), "heartbeat of session %s", s.ID())
	case err != nil:
		return Member{}, s.store.explain(err, "heartbeat of session %s", s.ID())
	}
	s.store.members.Keep(s.row.key, done.Known, done.Applied.At)
	s.extend(done)
	return done.Known.Row.member(), nil
}

// propose extends the row as it is, if it is there and has not expired, neither by the store's
// clock nor by ours. What others wrote into it does not stay. Orders to give leases up are carried
// out before the heartbeat. A node that lives is a member, unless it has left itself: somebody may
// have taken it for one that has stopped. (A session that was marked as over is not live.)
func (s *Session) propose(seen rowstore.Known[memberRow], at rowstore.Moment) (rowstore.Proposal[memberRow], error) {
	switch row := seen.Row; {
	case s.validity.remaining() == 0:
		return rowstore.Proposal[memberRow]{}, s.expired()
	case row.rev == "":
		return rowstore.Proposal[memberRow]{}, sessionLost(LossGone, nil)
	case row.over():
		return rowstore.Proposal[memberRow]{}, sessionLost(LossClosed, nil)
	case !row.live(at):
		return rowstore.Proposal[memberRow]{}, sessionLost(LossExpired, nil)
	}
	s.obey(parseOrders(seen.Row.revoked)...)
	next := seen.Row.extended(s.ttl, at)
	next.revoked = nil
	if !s.leaving.Load() {
		next.left = 0
	}
	next.signals = max(next.signals, s.signals.Load())
	return rowstore.Write(next), nil
}

// Signal has the session's next heartbeat tell the other members to look at the owners, say because
// a partition has come free out of turn: [Member.Signals] is greater then. It sends nothing by
// itself, and costs nothing. A node that sees the greater number sees everything, too, that this
// process had written before the call.
//
// Coordinators count on a session that has signalled once to do so whenever it gives up a lease out
// of turn. While others hold leases of a group, they look at its owners every now and then.
func (s *Session) Signal() { s.signals.Add(1) }

// Leave takes the node off the members at once and for good, so that others do its share of the work
// as it is released. The session lives on, and its leases with it, for as long as heartbeats are sent. Call
// it when the work is about to stop, and [Session.Close] when it has stopped.
func (s *Session) Leave(ctx context.Context) error {
	unlock, err := s.calls.Lock(ctx, s.row.key)
	if err != nil {
		return s.store.explain(err, "leave of session %s", s.ID())
	}
	defer unlock()
	s.leaving.Store(true)
	return s.store.explain(s.store.leave(ctx, s.row.key, s.ttl, s.validity.remaining()), "leave of session %s", s.ID())
}

// Close ends the session: Done is closed, all its leases are released, and its row is marked, which
// takes the node off the members and frees whatever refers to the session still. Stop the work that
// the leases cover before.
//
// Nil means that all of it is given up. After an error call it again, until it is nil; what could not
// be given up is free when the session expires. A session that was lost can be closed, too: others
// then need not wait until it has surely expired.
func (s *Session) Close(ctx context.Context) error {
	s.end(ErrSessionClosed)
	unlock, err := s.calls.Lock(ctx, rowstore.Key{}) // a call beside another one waits for what that gets done
	if err != nil {
		return s.store.explain(err, "close session %s", s.ID())
	}
	defer unlock()
	if s.closed {
		return nil
	}
	err = errors.Join(s.ReleaseAll(ctx), s.close(ctx))
	s.closed = err == nil
	return err
}

// close ends the session in the table. Its row stays, for a while, so that an attempt to open the
// session that was never answered cannot make it again.
func (s *Session) close(ctx context.Context) error {
	done, err := rowstore.Change[memberRow]{
		Key: s.row.key, Cache: s.store.members, Decode: decodeMember, Start: rowstore.Always[memberRow],
		Propose: func(seen rowstore.Known[memberRow], at rowstore.Moment) (rowstore.Proposal[memberRow], error) {
			row := seen.Row
			if row.rev == "" || row.exp == 1 {
				return rowstore.Proposal[memberRow]{}, nil
			}
			row.exp, row.left, row.ttl = 1, at.Latest(), cleanup(at.Latest(), closedRetention)
			return rowstore.Write(row), nil
		},
	}.Do(ctx, s.store.rows)
	s.store.members.Forget(s.row.key, done.Known.Row)
	return s.store.explain(err, "close session %s", s.ID())
}
