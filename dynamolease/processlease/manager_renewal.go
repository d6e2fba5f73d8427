package processlease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dynamolease/dynamolease/internal/request"
)

// watch ends the lease at its deadline. It does not wait for any request.
func (m *Manager) watch(ctx context.Context) {
	for left := m.Remaining(); left > 0; left = m.Remaining() {
		if err := request.Sleep(ctx, left); err != nil {
			m.end(fmt.Errorf("%w: %w", ErrStopped, err))
			return
		}
	}
	m.expire()
}

// renew renews at next, a time on the clock's Max, and then at the interval. It returns when the
// lease is over.
func (m *Manager) renew(ctx context.Context, next time.Duration) {
	clock := m.identity.authority.clock
	for request.Sleep(ctx, next-clock().Max) == nil {
		next = m.renewOnce(ctx)
	}
}

// renewOnce makes one attempt and returns the time of the next.
func (m *Manager) renewOnce(ctx context.Context) time.Duration {
	a := m.identity.authority
	started := a.clock().Max
	out, err := m.write(ctx)
	switch {
	case ctx.Err() != nil:
		return 0
	case err == nil && out.Acquired:
		m.extend(out)
		return out.own.start.Max + m.interval
	case err == nil && out.Record.Owner == m.own.Owner && out.Record.Term == m.own.Term:
		m.acquired.boot.end()
		m.end(fmt.Errorf("%w: this owner has resigned", ErrStopped))
		return 0
	case err == nil:
		m.acquired.boot.end()
		m.end(&HeldError{out.Record})
		return 0
	}
	a.logger.WarnContext(ctx, "processlease: renewal failed", "node", m.own.Node, "owner", m.own.Owner,
		"term", m.own.Term, "remaining", m.Remaining(), "err", err)
	if errors.Is(err, ErrInvalid) {
		return started + m.interval // a quick retry does not help while the rows are wrong
	}
	return a.clock().Max + min(retryDelay, m.interval)
}

// write makes one attempt to renew exactly this boot's own term. Only conflicts with transactions are
// tried again. Earlier attempts of this manager count as its own, each from its own start.
func (m *Manager) write(ctx context.Context) (Result, error) {
	s := m.identity
	c := s.change(m.own.Owner)
	c.by, c.budget = m, request.Once(2*s.authority.rows.Timeout(s.authority.ttl))
	c.decide = func(seen head, _ bool) (headWrite, error) {
		switch {
		case m.Remaining() == 0: // this node slept through the deadline: it must not write any more
			m.expire()
			return headWrite{}, ErrDeadline
		case !seen.exists():
			return headWrite{}, missing("the head was deleted")
		case !seen.heldBy(m.own):
			return headWrite{}, nil
		}
		next, err := seen.renewed(s.authority.ttl)
		return headWrite{head: next}, err
	}
	out, err := c.do(ctx)
	return out, s.explain(err, "renew")
}

// extend counts the new deadline from the start of the attempt that was applied, however long its
// answer took. If the former deadline has passed meanwhile, the renewal came too late: this boot
// has the lease in the table, but cannot use it any more.
func (m *Manager) extend(out Result) {
	if !m.validity.extend(out.own.start.Max + m.identity.authority.ttl) {
		m.expire()
		return
	}
	m.acquired.boot.renewed(out.own.number)
	m.lease.Store(&out.own.head.Record)
}
