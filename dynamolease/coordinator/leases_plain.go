package coordinator

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// plainLeases are leases that have an expiry of their own, each renewed by itself. They are good
// without the session.
type plainLeases struct {
	store *dynamolease.Store
	owner string // of this process alone: another process of the node has another
	ttl   time.Duration
}

func newPlainLeases(store *dynamolease.Store, node string, ttl time.Duration) plainLeases {
	return plainLeases{store: store, owner: node + "#" + uuid.NewString(), ttl: ttl}
}

func (p plainLeases) acquire(
	ctx context.Context, look *dynamolease.Look, _ *dynamolease.Session, group string, partition int,
) (dynamolease.Lease, bool, error) {
	return look.Acquire(ctx, group, partition, p.owner, p.ttl)
}

func (p plainLeases) release(ctx context.Context, _ *dynamolease.Session, group string, partition int) error {
	_, err := p.store.Release(ctx, group, partition, p.owner)
	return err
}

func (p plainLeases) owns(_ *dynamolease.Session, lease dynamolease.Lease) bool {
	return lease.Session == "" && lease.Owner == p.owner
}

func (plainLeases) watch(w *worker) {
	w.expiry = time.AfterFunc(time.Hour, func() { expire(w) }) // expire needs the timer
	w.renewal.Store(&renewal{ends: time.Now().Add(w.lease.Load().Remaining())})
	w.expiry.Reset(w.lease.Load().Remaining())
}

// expire ends the context of a worker whose lease has run out, unless a renewal has extended it
// meanwhile.
func expire(w *worker) {
	if left := w.lease.Load().Remaining(); left > 0 {
		w.expiry.Reset(left)
		return
	}
	w.invalid.Store(true)
	w.cancel(lost(w.renewal.Load().loss()))
}

func (plainLeases) endsWith(*dynamolease.Session, *worker) bool { return false }

func (plainLeases) ended(w *worker) error { return w.renewal.Load().loss() }

func (plainLeases) remaining(w *worker) time.Duration { return w.lease.Load().Remaining() }

// renew renews all groups at the same time: a group that waits must not cost the others their
// leases.
func (p plainLeases) renew(
	ctx context.Context, groups []*group, held func(*group) map[int]*worker, lost func(*worker, error),
) error {
	errs := make([]error, len(groups))
	var running sync.WaitGroup
	for i, g := range groups {
		running.Go(func() { errs[i] = p.renewGroup(ctx, g, held(g), lost) })
	}
	running.Wait()
	return errors.Join(errs...)
}

// renewGroup renews the leases of a group. When the request fails, they keep what they have left.
func (p plainLeases) renewGroup(
	ctx context.Context, g *group, workers map[int]*worker, lost func(*worker, error),
) error {
	for partition, w := range workers {
		if w.lease.Load().Remaining() == 0 { // after a suspension: an expired lease does not come back
			lost(w, w.renewal.Load().loss())
			delete(workers, partition)
			continue
		}
		w.attempted(errNotAnswered)
	}
	leases, err := p.store.Renew(ctx, g.Name, slices.Collect(maps.Keys(workers)), p.owner, p.ttl)
	malformed, readable := g.malformed(err)
	if !readable {
		for _, w := range workers {
			w.attempted(err)
		}
		return err
	}
	for partition := range malformed { // it keeps what it has left
		if w := workers[partition]; w != nil {
			w.attempted(err)
		}
		delete(workers, partition)
	}
	for _, lease := range leases {
		if w := workers[lease.Partition]; w != nil && w.epoch == lease.Epoch {
			extend(w, lease)
			delete(workers, lease.Partition)
		}
	}
	for _, w := range workers { // Renew leaves a lost lease out
		lost(w, w.lease.Load().Loss())
	}
	return err
}

// extend gives a worker its renewed lease.
func extend(w *worker, lease dynamolease.Lease) {
	w.lease.Store(&lease)
	w.renewal.Store(&renewal{ends: time.Now().Add(lease.Remaining())})
	w.expiry.Reset(lease.Remaining())
}

func (plainLeases) overdue(groups []*group, enough time.Duration) *worker {
	for _, g := range groups {
		for _, w := range g.workers {
			if !w.ending && w.lease.Load().Remaining() < enough {
				return w
			}
		}
	}
	return nil
}
