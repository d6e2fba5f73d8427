package coordinator

import "time"

// A Partition is one that should be worked and is not, as a [GroupState] lists it.
type Partition struct {
	Number   int
	Since    time.Time // by this node's wall clock
	Reason   Reason
	Failures int   // of the handler in a row, where Reason is [Failing]; 0 otherwise
	Err      error // of the handler, or of the row, or why the lease is over; nil where there is none
}

// A Reason says why a partition is not worked.
type Reason string

const (
	// Unowned is a partition that no node has, as this node's latest look at the owners saw it.
	Unowned Reason = "unowned"
	// Excluded is a partition that no node has, and that this node must not take: [Group].Exclude
	// lists it. It stays so if all nodes exclude it.
	Excluded Reason = "excluded"
	// Malformed is a partition whose row in the table is malformed, and that this node does not work.
	// No node takes it; one that works it goes on.
	Malformed Reason = "malformed"
	// Failing is a partition of this node whose handler has failed. It counts as worked again once
	// the handler has run for more than a minute.
	Failing Reason = "failing"
	// Stuck is a partition whose handler goes on in this process for more than a round after its
	// lease was over. This process does not take it again before the handler returns; others do.
	Stuck Reason = "stuck"
	// Done is a partition of this node whose handler has returned nil.
	Done Reason = "done"
)

// Reasons returns all reasons, in a fixed order, for metrics.
func Reasons() []Reason { return []Reason{Unowned, Excluded, Malformed, Failing, Stuck, Done} }
