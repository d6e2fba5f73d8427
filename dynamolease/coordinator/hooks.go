package coordinator

import (
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// Hooks are functions that a coordinator calls with what it does, for metrics. Each may be nil.
// They are called one at a time, in order, from a goroutine of their own, so that a slow one
// delays nothing. At most 1,000 calls wait; further ones are left out, which is logged.
//
// No hook is called after Run has returned. Run leaves the service before, and then waits for the
// calls that are left: a hook must not wait for Run, nor for ever. A panic of a hook is logged.
type Hooks struct {
	// Round gets the [Coordinator.State] after each round.
	Round func(State)

	// Gained gets the lease when a handler starts to work a partition.
	Gained func(dynamolease.Lease)

	// Lost gets the lease when the context of a handler ends. The cause is [ErrRevoked],
	// [ErrShutdown] or [ErrLost].
	Lost func(lease dynamolease.Lease, cause error)

	// Renewed gets how long each heartbeat took, with the renewals of leases that have an expiry of
	// their own, and its error; nil for success.
	Renewed func(took time.Duration, err error)
}

func (h Hooks) any() bool {
	return h.Round != nil || h.Gained != nil || h.Lost != nil || h.Renewed != nil
}
