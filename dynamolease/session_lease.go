package dynamolease

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// Acquire acquires a partition of a group in the session, if it is free, released, surely expired,
// or of a session that is over. The lease lives as long as the session: it needs no renewal. A
// lease that the session has already, also from an acquisition that was never answered, is returned
// as it is, with its epoch. If another holder has it, acquired is false, and the lease is that
// holder's.
//
// It costs one read and, if it writes, one write unit; and the first takeover from a session that
// died a read and a write unit more, see [Store.Acquire]. The error is that of [Store.Acquire], and [ErrSessionLost] or
// [ErrSessionClosed] when the session is over, also when it ended meanwhile.
func (s *Session) Acquire(ctx context.Context, group string, partition int) (lease Lease, acquired bool, err error) {
	if err := firstError(checkName("group", group), checkPartition("partition", partition)); err != nil {
		return Lease{}, false, s.store.explain(err, "acquire")
	}
	lease, acquired, err = s.acquire(ctx, leaseKey(group, partition), nil)
	return lease, acquired, s.store.explain(err, "acquire %s/%d", group, partition)
}

// acquire acquires a lease, on top of the row that a look has found, if there is one.
func (s *Session) acquire(ctx context.Context, k rowstore.Key, seen *leaseRow) (Lease, bool, error) {
	if err := s.Err(); err != nil {
		return Lease{}, false, err
	}
	a := &acquisition{store: s.store, key: k, holder: s.holder(), ttl: s.ttl, seen: seen}
	unlock, err := s.calls.Lock(ctx, k)
	if err != nil {
		return Lease{}, false, err
	}
	defer unlock()
	done, err := a.run(ctx)
	if errors.Is(err, ErrUnknownOutcome) {
		s.keep(k)
	}
	if err != nil {
		return Lease{}, false, err
	}
	row := done.Known.Row
	lease := a.describe(row)
	if !row.heldBy(a.holder) {
		s.refused(row)
		return lease, false, nil
	}
	lease.ExpiresAt = time.UnixMilli(s.validity.exp.Load()).UTC()
	held, err := s.hold(k, lease.Epoch)
	if err != nil {
		return Lease{}, false, err
	}
	lease.validity = validity{held: held}
	lease.progress = s.store.works.acquired(k, a.holder, row.epoch, row.work)
	if lease.Remaining() == 0 { // revoked before, and run out
		return Lease{}, false, cmp.Or(s.Err(), errNothingLeft)
	}
	return lease, true, nil
}

// Release frees a lease of the session, so that another node can acquire it at once, and reports
// whether there was one. Stop the work that it covers before. The error is that of [Store.Release].
func (s *Session) Release(ctx context.Context, group string, partition int) (released bool, err error) {
	if err := firstError(checkName("group", group), checkPartition("partition", partition)); err != nil {
		return false, s.store.explain(err, "release")
	}
	k := leaseKey(group, partition)
	unlock, err := s.calls.Lock(ctx, k)
	if err != nil {
		return false, s.store.explain(err, "release %s/%d", group, partition)
	}
	defer unlock()
	released, err = s.release(ctx, k)
	return released, s.store.explain(err, "release %s/%d", group, partition)
}

func (s *Session) release(ctx context.Context, k rowstore.Key) (released bool, err error) {
	s.drop(k)
	r := &release{
		store: s.store, key: k, holder: s.holder(),
		live: func(leaseRow, rowstore.Moment) bool { return s.Remaining() > 0 },
	}
	if released, err = r.run(ctx); err != nil {
		s.keep(k)
	}
	return released, err
}

// ReleaseAll frees all leases that the session has acquired, with one request and one write unit for
// each of them, many at a time. Stop the work that they cover before. The next call tries again to
// free what this one could not. A lease whose row is malformed (a [RowError]) does not stop the
// others from being freed.
func (s *Session) ReleaseAll(ctx context.Context) error {
	me := s.holder()
	b := &rowstore.Bulk[leaseRow]{
		Table: s.store.rows, Cache: s.store.leases, Decode: decodeLease, By: me, EachItem: true,
		Holds: func(row leaseRow, _ rowstore.Moment) bool { return row.rev != "" && row.holder == me },
		Next:  func(row leaseRow, at rowstore.Moment) (leaseRow, error) { return row.freed(at, s.store.retention), nil },
	}
	for _, k := range s.keys() {
		unlock, err := s.calls.Lock(ctx, k) // in order, so that two of these cannot wait for each other
		if err != nil {
			return s.store.explain(err, "release leases of session %s", s.ID())
		}
		defer unlock()
		b.Add(k)
	}
	for _, row := range b.Rows {
		s.drop(row.Key)
	}
	errs := []error{b.Do(ctx), b.Malformed()}
	for _, row := range b.Rows {
		known, _ := s.store.leases.Recall(row.Key)
		switch {
		case row.Open() || row.Err != nil:
			s.keep(row.Key)
		case row.Lost && known.PendingBy(me): // an acquisition that was never answered may come yet
			_, err := s.release(ctx, row.Key)
			errs = append(errs, err)
		case row.Applied != nil:
			s.store.leases.Forget(row.Key, row.Applied.Row)
			fallthrough
		default:
			s.store.works.over(row.Key, me)
		}
	}
	return s.store.explain(errors.Join(errs...), "release leases of session %s", s.ID())
}

func (s *Session) holder() holder { return holder{owner: s.node, session: s.row.key} }

// hold notes a lease that was acquired, unless the session ended meanwhile.
func (s *Session) hold(k rowstore.Key, epoch int64) (*heldLease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.cause != nil:
		return nil, s.cause
	case s.validity.remaining() == 0:
		return nil, ErrSessionLost
	case s.held[k] == nil || s.held[k].over.Load() || s.held[k].epoch != epoch:
		s.held[k] = &heldLease{session: s.validity, epoch: epoch}
	}
	if s.revoked[k].epoch == epoch {
		s.held[k].revoke()
	} else {
		delete(s.revoked, k)
	}
	return s.held[k], nil
}

// refused notes that a lease cannot be acquired: another has it, or it is the session's own and
// revoked, and must be released.
func (s *Session) refused(row leaseRow) {
	if row.holder != s.holder() {
		s.drop(row.key)
		return
	}
	s.obey(order{row.key, row.epoch})
	s.keep(row.key)
}

// drop notes that a lease is not held any more, before it is released.
func (s *Session) drop(k rowstore.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if held := s.held[k]; held != nil {
		held.over.Store(true)
		delete(s.held, k)
	}
}

// keep notes a lease that the session may have in the table, although this process does not count on
// it: a release failed, or an acquisition was not answered. ReleaseAll frees it.
func (s *Session) keep(k rowstore.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[k] == nil {
		s.held[k] = &heldLease{session: s.validity}
		s.held[k].over.Store(true)
	}
}

// keys returns the keys of the leases that are held, or that ReleaseAll must free all the same, in
// order.
func (s *Session) keys() []rowstore.Key {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Keys(s.held), func(a, b rowstore.Key) int {
		return cmp.Or(strings.Compare(a.PK, b.PK), strings.Compare(a.SK, b.SK))
	})
}
