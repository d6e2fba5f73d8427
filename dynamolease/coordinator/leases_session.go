package coordinator

import (
	"context"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// sessionLeases are leases in the node's session: its heartbeat keeps them all, and they end with
// it.
type sessionLeases struct{}

func (sessionLeases) acquire(
	ctx context.Context, look *dynamolease.Look, s *dynamolease.Session, group string, partition int,
) (dynamolease.Lease, bool, error) {
	return look.AcquireIn(ctx, s, group, partition)
}

func (sessionLeases) release(ctx context.Context, s *dynamolease.Session, group string, partition int) error {
	_, err := s.Release(ctx, group, partition)
	return err
}

func (sessionLeases) owns(s *dynamolease.Session, lease dynamolease.Lease) bool {
	return lease.Session == s.ID()
}

func (sessionLeases) watch(*worker) {}

func (sessionLeases) endsWith(s *dynamolease.Session, w *worker) bool { return w.session == s }

func (sessionLeases) remaining(w *worker) time.Duration { return w.session.Remaining() }

func (sessionLeases) ended(w *worker) error { return w.session.Err() }

func (sessionLeases) renew(context.Context, []*group, func(*group) map[int]*worker, func(*worker, error)) error {
	return nil
}

func (sessionLeases) overdue([]*group, time.Duration) *worker { return nil }
