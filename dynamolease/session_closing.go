package dynamolease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/internal/request"
	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// session reads the row of a session, strongly consistent, and closes the session if it is surely
// dead. It returns the row as it is then: empty for a session that is gone.
func (s *Store) session(
	ctx context.Context, k rowstore.Key, at rowstore.Moment, budget *request.Budget, timeout time.Duration,
) (memberRow, error) {
	if s.closed.contains(k) {
		return memberRow{}, nil
	}
	row, answer, err := s.readSession(ctx, k, budget, timeout)
	switch {
	case err != nil, row.rev == "", s.alive(row, at.AsOf(answer)):
		return row, err
	case row.over():
		s.closed.add(k)
		return row, nil
	}
	c := &closing{store: s, dead: row, at: at, budget: budget.Share(), timeout: timeout}
	return c.run(ctx)
}

func (s *Store) readSession(
	ctx context.Context, k rowstore.Key, budget *request.Budget, timeout time.Duration,
) (row memberRow, answer request.Answer, err error) {
	found, answer, err := s.rows.Get(ctx, k, budget, timeout)
	if err != nil || len(found) == 0 {
		return memberRow{}, answer, s.explainSession(err, k, "look at")
	}
	row, err = decodeMember(found)
	return row, answer, err
}

// alive reports whether the session of a row, read after a moment, may still be alive. It is dead
// when it has surely expired by the store's clock, or has sent no heartbeat for its ttl by this
// node's own clock: whichever is certain first. If a heartbeat was seen to come, no clock says more.
func (s *Store) alive(row memberRow, at rowstore.Moment) bool {
	if row.over() {
		return false
	}
	seen := watched{row.key, row.rev, row.exp, row.lasts}
	dead, renewed := s.watch.judge(seen, at.Start)
	s.watch.note(seen, at.Start)
	return renewed || row.live(at) && !dead
}

// certain returns after what time from a moment it is certain that the session of a row is over, by
// one clock or the other, if it sends no heartbeat any more. It is at most a year. The store's clock
// does not count for a session that lives although it has expired by that, or soon will: one that was
// seen to be renewed since.
func (s *Store) certain(row memberRow, at rowstore.Moment) time.Duration {
	byStore := time.Duration(min(row.exp-at.Earliest(), MaxTTL.Milliseconds()-1)+1) * time.Millisecond
	still, renewed := s.watch.left(watched{row.key, row.rev, row.exp, row.lasts}, at.Start)
	if byStore <= renewed {
		return still
	}
	return max(0, min(byStore, still))
}

// A closing closes a session that is surely dead. The rev decides: a heartbeat that lands first
// keeps the session, and one that lands later is refused. From then on nothing about the session
// changes, and each of its leases is a row that anybody takes by a compare-and-set of its own.
type closing struct {
	store   *Store
	dead    memberRow
	at      rowstore.Moment
	budget  *request.Budget
	timeout time.Duration

	latest memberRow // the row as it is now; as it was seen dead, until that is known
}

// run returns the row as it is then. Several callers of one process close a session once.
func (c *closing) run(ctx context.Context) (memberRow, error) {
	sessions := c.store.closed
	unlock, err := c.budget.Await(ctx, func(ctx context.Context) (func(), error) { return sessions.closing.Lock(ctx, c.dead.key) })
	if err != nil {
		return c.dead, err
	}
	defer unlock()
	closed := c.dead.closed(c.at).WithRev(uuid.NewString())
	if sessions.contains(c.dead.key) {
		return closed, nil
	}
	asSeen := rowstore.Condition{Revs: []string{c.dead.rev}}
	c.latest = c.dead
	err = c.store.rows.Try(ctx, c.budget, c.timeout, rowstore.Attempts{
		Next: func(context.Context) (rowstore.Send, error) {
			if c.latest.rev != c.dead.rev {
				return nil, nil
			}
			return c.store.rows.Write(c.store.rows.Update(c.dead.key, asSeen, closed.Attributes())), nil
		},
		Done:    func(request.Answer) { c.latest = closed },
		Refused: c.refused,
	})
	if err != nil {
		return c.dead, c.store.explainSession(err, c.dead.key, "close")
	}
	if c.latest.over() {
		sessions.add(c.dead.key)
	}
	return c.latest, nil
}

// refused looks at the row that has come between: closed by an attempt whose answer was lost or by
// anybody else, alive, or gone.
func (c *closing) refused(ctx context.Context, _ request.Answer, refusal error) (wait bool, err error) {
	if row, _ := rowstore.RefusedRow(refusal); len(row) > 0 {
		c.latest, err = decodeMember(row)
	} else {
		c.latest, _, err = c.store.readSession(ctx, c.dead.key, c.budget, c.timeout)
	}
	return true, err
}

// explainSession says what a node lacks that may take leases, but not look at the sessions that hold
// them, or close those that are dead.
func (s *Store) explainSession(err error, k rowstore.Key, verb string) error {
	var known *SetupError
	session := k.SK[len(nodePrefix):]
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case request.Denied(err):
		return &SetupError{s.rows.Name, fmt.Sprintf("these credentials may not %s the session %s", verb, session),
			fmt.Sprintf("grant dynamodb:GetItem and UpdateItem on the partition key %s, too: a takeover reads the session's row, and marks it as over", k.PK), err}
	}
	return fmt.Errorf("%s the session %s: %w", verb, session, err)
}
