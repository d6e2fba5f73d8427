package dynamolease

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
)

// Acquire acquires a partition of a group in the session, if it is free, released, surely expired, or of a session that
// is over. The lease lives as long as the session: it needs no renewal. A lease that the session has already, also from
// an acquisition that was never answered, is returned as it is, with its epoch. If another holder has it, acquired is
// false, and the lease is that holder's.
//
// It costs one read and, if it writes, one write unit; four write units and a read more to take a lease over from
// another session. The error is that of [Store.Acquire], and [ErrSessionLost] or [ErrSessionClosed] when the session is
// over, also when it ended meanwhile.
func (s *Session) Acquire(ctx context.Context, group string, partition int) (lease Lease, acquired bool, err error) {
	if err := firstError(checkName("group", group), checkPartition("partition", partition)); err != nil {
		return Lease{}, false, s.store.explain(err, "acquire")
	}
	if err := s.Err(); err != nil {
		return Lease{}, false, s.store.explain(err, "acquire %s/%d", group, partition)
	}
	a := &acquisition{store: s.store, key: leaseKey(group, partition), holder: s.holder(), ttl: s.ttl}
	unlock, err := s.calls.lock(ctx, a.key)
	if err != nil {
		return Lease{}, false, s.store.explain(err, "acquire %s/%d", group, partition)
	}
	defer unlock()
	done, err := a.run(ctx)
	if err != nil {
		return Lease{}, false, s.store.explain(err, "acquire %s/%d", group, partition)
	}
	lease = a.describe(done.seen.row)
	if row := done.seen.row; !row.heldBy(a.holder) {
		s.refused(row)
		return lease, false, nil
	}
	lease.ExpiresAt = time.UnixMilli(s.term.exp.Load()).UTC()
	grip, err := s.hold(a.key, lease.Epoch)
	if err != nil {
		return Lease{}, false, s.store.explain(err, "acquire %s/%d", group, partition)
	}
	lease.tenure = tenure{grip: grip}
	return lease, true, nil
}

// Release frees a lease of the session, so that another node can acquire it at once, and reports whether there was one.
// Stop the work that it covers before. The error is that of [Store.Release].
func (s *Session) Release(ctx context.Context, group string, partition int) (released bool, err error) {
	if err := firstError(checkName("group", group), checkPartition("partition", partition)); err != nil {
		return false, s.store.explain(err, "release")
	}
	k := leaseKey(group, partition)
	unlock, err := s.calls.lock(ctx, k)
	if err != nil {
		return false, s.store.explain(err, "release %s/%d", group, partition)
	}
	defer unlock()
	s.drop(k)
	r := &release{store: s.store, key: k, holder: s.holder(), live: func(leaseRow, moment) bool { return s.Remaining() > 0 }}
	released, err = r.run(ctx)
	return released, s.store.explain(err, "release %s/%d", group, partition)
}

// ReleaseAll frees all leases that the session has acquired, with one request for each 100 of them. Stop the work that
// they cover before. What it could not free is tried again by the next call; a lease whose row is malformed (a [RowError])
// keeps none of the others.
func (s *Session) ReleaseAll(ctx context.Context) error {
	me := s.holder()
	b := &bulk{
		store: s.store, holder: me,
		holds: func(row leaseRow, _ moment) bool { return row.rev != "" && row.holder == me },
		next:  func(row leaseRow, at moment) (leaseRow, error) { return row.freed(at, s.store.retention), nil },
	}
	for _, k := range s.keys() {
		unlock, err := s.calls.lock(ctx, k) // in order, so that two of these cannot wait for each other
		if err != nil {
			return s.store.explain(err, "release leases of session %s", s.ID())
		}
		defer unlock()
		b.add(k)
	}
	for _, item := range b.items {
		s.drop(item.key)
	}
	err := b.run(ctx)
	for _, item := range b.items {
		if item.open() || item.err != nil {
			s.keep(item.key)
		} else {
			s.store.leases.forget(item.key)
		}
	}
	return s.store.explain(errors.Join(err, b.malformed()), "release leases of session %s", s.ID())
}

// Close ends the session: Done is closed, all its leases are released, and its row is marked, which takes the node off
// the members and frees whatever refers to the session still. Stop the work that the leases cover before. What could not be released is free when the session expires.
// Closing a session that is over does nothing.
func (s *Session) Close(ctx context.Context) error {
	if !s.end(ErrSessionClosed) {
		return nil
	}
	return errors.Join(s.ReleaseAll(ctx), s.close(ctx))
}

// close ends the session in the table. Its row stays, for a while, so that an attempt to open the session that was never
// answered cannot make it again.
func (s *Session) close(ctx context.Context) error {
	_, err := settle(ctx, s.store, change[memberRow]{
		key: s.row.key, rows: s.store.members, decode: decodeMember, start: always,
		propose: func(seen sighting[memberRow], at moment) (proposal[memberRow], error) {
			row := seen.row
			if row.rev == "" || row.exp == 1 {
				return proposal[memberRow]{action: leave, next: row}, nil
			}
			row.exp, row.left, row.ttl = 1, at.latest(), cleanup(at.latest(), memberRetention)
			return proposal[memberRow]{action: write, next: row}, nil
		},
	})
	s.store.members.forget(s.row.key)
	return s.store.explain(err, "close session %s", s.ID())
}

func (s *Session) holder() holder { return holder{owner: s.node, session: s.row.key} }

// hold notes a lease that was acquired, unless the session ended meanwhile.
func (s *Session) hold(k key, epoch int64) (*grip, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.cause != nil:
		return nil, s.cause
	case s.term.remaining() == 0:
		return nil, ErrSessionLost
	case s.held[k] == nil || s.held[k].over.Load() || s.held[k].epoch != epoch:
		s.held[k] = &grip{term: s.term, epoch: epoch}
	}
	if s.revoked[k] == epoch {
		s.held[k].revoke()
	} else {
		delete(s.revoked, k)
	}
	return s.held[k], nil
}

// refused notes that a lease cannot be acquired: another has it, or it is the session's own and revoked, and is to be
// released.
func (s *Session) refused(row leaseRow) {
	if row.holder != s.holder() {
		s.drop(row.key)
		return
	}
	s.revoke([]string{orderOf(row.key, row.epoch)})
	s.keep(row.key)
}

// drop notes that a lease is not held any more, before it is released.
func (s *Session) drop(k key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if grip := s.held[k]; grip != nil {
		grip.over.Store(true)
		delete(s.held, k)
	}
}

// keep notes a lease that is not held any more, but could not be released.
func (s *Session) keep(k key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[k] == nil {
		s.held[k] = &grip{term: s.term}
		s.held[k].over.Store(true)
	}
}

// keys are those of the leases that are held or could not be released, in order.
func (s *Session) keys() []key {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Keys(s.held), func(a, b key) int {
		return cmp.Or(strings.Compare(a.pk, b.pk), strings.Compare(a.sk, b.sk))
	})
}
