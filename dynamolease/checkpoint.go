package dynamolease

import (
	"bytes"
	"context"
	"fmt"
)

// MaxCheckpoint is the largest checkpoint in bytes. Keep it far below: with one under about 700 bytes the lease's row
// stays below 1 KB, and each write of it costs one write unit.
const MaxCheckpoint = 16 << 10

// Checkpoint leaves data with the lease, at most [MaxCheckpoint] bytes (say where in its partition the work has got to).
// It is kept when the lease changes hands, and Acquire gives it to the next holder as [Lease.Checkpoint]. Empty data
// removes it. Only the holder can write it, one write at a time for a lease.
//
// The error is a [FencedError] that names the new holder when the lease was taken or released, and wraps
// [ErrUnknownOutcome] when nothing tells whether the checkpoint was written; the same call again is safe then. Other
// errors: [ArgumentError], [RowError], [SetupError], the context's, or the SDK's, after retries for at most 10 seconds.
func (s *Store) Checkpoint(ctx context.Context, lease Lease, data []byte) error {
	if err := firstError(checkLease(lease.Group, lease.Partition, lease.Owner), checkCheckpoint(data)); err != nil {
		return s.explain(err, "checkpoint")
	}
	k := leaseKey(lease.Group, lease.Partition)
	unlock, err := s.working.lock(ctx, k)
	if err != nil {
		return s.explain(err, "checkpoint %s/%d", lease.Group, lease.Partition)
	}
	defer unlock()
	done, err := settle(ctx, s, change[leaseRow]{
		key: k, rows: s.leases, decode: decodeLease,
		start: func(seen sighting[leaseRow], _ moment) bool { return lease.covers(seen.row) },
		propose: func(seen sighting[leaseRow], _ moment) (proposal[leaseRow], error) {
			next := seen.row
			if !lease.covers(next) {
				return proposal[leaseRow]{}, lease.fenced(next)
			}
			next.marked, next.checkpoint = true, bytes.Clone(data)
			return proposal[leaseRow]{action: write, next: next}, nil
		},
	})
	if err != nil {
		return s.explain(err, "checkpoint %s/%d", lease.Group, lease.Partition)
	}
	s.leases.keep(k, done.seen, done.applied.at)
	return nil
}

func checkCheckpoint(data []byte) error {
	if len(data) > MaxCheckpoint {
		return &ArgumentError{"checkpoint", fmt.Sprintf("has %d bytes, at most %d are allowed", len(data), MaxCheckpoint)}
	}
	return nil
}
