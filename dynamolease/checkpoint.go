package dynamolease

import (
	"context"
	"fmt"
)

// MaxCheckpoint is the largest checkpoint in bytes. Keep it far below: with one under about 700 bytes the lease's row
// stays below 1 KB, and each write of it costs one write unit.
const MaxCheckpoint = 16 << 10

// Checkpoint leaves data with the lease, at most [MaxCheckpoint] bytes (say where in its partition the work has got to).
// It is kept when the lease changes hands, and Acquire gives it to the next holder as [Lease.Checkpoint]. Empty data
// removes it. Only the holder can write it, and one Checkpoint or [Store.Transact] at a time for a lease; others wait.
//
// The errors are those of [Store.Transact], of which it is the case without items: one UpdateItem.
func (s *Store) Checkpoint(ctx context.Context, lease Lease, data []byte) error {
	if data == nil {
		data = []byte{}
	}
	return s.explain(s.work(ctx, lease, data, nil), "checkpoint %s/%d", lease.Group, lease.Partition)
}

func checkCheckpoint(data []byte) error {
	if len(data) > MaxCheckpoint {
		return &ArgumentError{"checkpoint", fmt.Sprintf("has %d bytes, at most %d are allowed", len(data), MaxCheckpoint)}
	}
	return nil
}
