package coordinator

import (
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// Hooks are functions that a coordinator calls with what it does, for metrics. Each may be nil.
// They are called one at a time, in order, from a goroutine of their own, so that a slow one
// delays nothing. A hook may call the coordinator. At most 10,000 calls wait; further ones are left
// out, which is logged and counted ([State].Dropped).
//
// Run leaves the service, and then waits for the calls that are left, at most a second. No hook is
// called after Run has returned; one that has not returned by then is left to itself. A panic of a
// hook is logged.
type Hooks struct {
	// Round gets the [Coordinator.State] after each round.
	Round func(State)

	// Gained gets the lease when a handler starts to work a partition.
	Gained func(dynamolease.Lease)

	// Lost gets the lease when the context of a handler ends. The cause is [ErrRevoked],
	// [ErrShutdown] or [ErrLost], for [errors.Is], and says why, as far as this node knows: see
	// [dynamolease.LossError].
	Lost func(lease dynamolease.Lease, cause error)

	// Failed gets the lease when a handler has returned an error or panicked, although the node owns
	// the partition; how many times in a row that was; and the error.
	Failed func(lease dynamolease.Lease, failures int, err error)

	// Stuck gets the lease of a handler that goes on more than a round after the lease was over, once,
	// and since when it is over. See the [Stuck] of [GroupState].Idle.
	Stuck func(lease dynamolease.Lease, since time.Time)

	// Renewed gets how long each heartbeat took, with the renewals of leases that have an expiry of
	// their own, and its error; nil for success.
	Renewed func(took time.Duration, err error)
}
