package coordinator

import (
	"context"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A leaseManager acquires, renews and releases the leases of a node, in one of the two modes. The
// node has a session in both: it is a member by that.
type leaseManager interface {
	// acquire acquires a partition for this process, on top of the row that a look has seen.
	acquire(ctx context.Context, look *dynamolease.Look, s *dynamolease.Session, group string, partition int) (
		lease dynamolease.Lease, acquired bool, err error)

	// release frees a lease that acquire has returned.
	release(ctx context.Context, s *dynamolease.Session, group string, partition int) error

	// owns reports whether a lease in the table belongs to this process.
	owns(s *dynamolease.Session, lease dynamolease.Lease) bool

	// watch has the context of a new worker end when its lease runs out, if the end of the session
	// does not end it. The caller holds the coordinator's mutex.
	watch(w *worker)

	// endsWith reports whether the lease of a worker ends with a session.
	endsWith(s *dynamolease.Session, w *worker) bool

	// remaining returns how long the lease of a worker lasts without another renewal. It does not
	// turn zero by an attempt to release the lease, as the lease's own Remaining does.
	remaining(w *worker) time.Duration

	// ended returns why the lease of a worker has run out, as far as this process knows.
	ended(w *worker) error

	// renew extends the leases that the session's heartbeat does not extend. held returns the
	// workers of a group whose leases the node keeps; lost is called for each whose lease is over,
	// with why it is.
	renew(ctx context.Context, groups []*group, held func(*group) map[int]*worker, lost func(*worker, error)) error

	// overdue returns a worker whose lease needs a renewal of its own and has less than enough
	// left; nil if there is none. The caller holds the coordinator's mutex.
	overdue(groups []*group, enough time.Duration) *worker
}

func newLeaseManager(store *dynamolease.Store, cfg Config) leaseManager {
	if cfg.LeaseMode == PerLease {
		return newPlainLeases(store, cfg.Node, cfg.TTL)
	}
	return sessionLeases{}
}
