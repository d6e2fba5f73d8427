package coordinator

import (
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A State is what a coordinator knows, for operators.
type State struct {
	Session   string        // the node's session, "node#id"; empty before the first
	Remaining time.Duration // how long the session is good for without another heartbeat
	Alive     bool          // the latest heartbeat succeeded
	Members   []dynamolease.Member
	Groups    []GroupState
	Rounds    int64         // since the start
	LastRound time.Duration // how long the latest took
	LastError error         // the latest failure of a request or a handler; nil before
	Missing   error         // permissions that this node will need and lacks, as the check of the start found; nil for none
	Dropped   int64         // calls of hooks and log records that were left out, because earlier ones are too slow
}

// A GroupState is what a coordinator knows of one group.
type GroupState struct {
	Name       string
	Nodes      []string            // that took part in the latest round, in order
	Share      int                 // of this node
	Free       int                 // partitions that should be worked and are not, as far as this node knows: see Idle
	Idle       []Partition         // these, with since when and why; and stuck ones that other nodes work by now
	Leases     []dynamolease.Lease // of this node, in partition order
	HandingOff int                 // how many of these the node hands over

	// OtherCounts are the members whose number of partitions is another than this node's, and their
	// numbers, as during a deployment that adds partitions; nil where all members agree. Each node works
	// the partitions that it knows. See [Group.Partitions].
	OtherCounts map[string]int

	// OtherService is another service that works the group, and still has nodes that take part in it.
	// This node then takes nothing of the group. It is empty if there is none.
	OtherService string
}
