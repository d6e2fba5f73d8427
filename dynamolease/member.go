package dynamolease

import "time"

// A Node is how a process takes part in a service: under which name, where others reach it, and in
// which groups of leases.
type Node struct {
	// Service is the fleet that the node is part of: 1 to 255 bytes of UTF-8. Required.
	Service string

	// Name is the node's name in the service: 1 to 255 bytes of UTF-8 without '#'. Required.
	Name string

	// Address is where others reach the node: 1 to 255 bytes of UTF-8. Required.
	Address string

	// Groups are the groups of leases that the node takes part in, at most 100. Defaults to none.
	Groups []string

	// Takes says, by group, which partitions the node takes, so that others can share by it. Defaults
	// to nothing said. All groups together take at most 16 KB of the node's row, which every node reads
	// in every round: say runs of partitions, not each one.
	Takes map[string]Takes
}

// Validate returns nil if the node can be used, or else an [ArgumentError] that names the first field
// that cannot. Each call that takes a Node checks it before any request.
func (n Node) Validate() error {
	return firstError(checkName("Node.Service", n.Service), checkNode("Node.Name", n.Name),
		checkName("Node.Address", n.Address), checkGroups("Node.Groups", n.Groups),
		checkTakes("Node.Takes", n.Groups, n.Takes))
}

// A Member is a node that takes part in a service, as its latest heartbeat says.
type Member struct {
	Service string
	Node    string
	Address string

	// Groups are the groups of leases that the node takes part in, sorted, each once.
	Groups []string

	// Takes says which partitions the node takes, by group; a group of which the node says nothing is
	// not there. A node of an earlier version says nothing.
	Takes map[string]Takes

	// Session is the node's session, as "node#id", and empty for a member by heartbeats alone. A node
	// that restarted under its own name is listed once, by the session of its newest process.
	Session string

	// JoinedAt is the time on the store's clock at which the session's process first joined. It stays
	// as it is when the process opens another session, by [Session.Reopen]. It is zero for a member by
	// heartbeats alone.
	JoinedAt time.Time

	// Signals is how often the session has signalled the others to look at the owners, see
	// [Session.Signal]. It is 0 for a session that does not signal, and never less than before for one
	// session.
	Signals int64

	// Drained is true while an operator keeps the node from taking part: see [Store.Drain].
	Drained bool

	// ExpiresAt is the time on the store's clock at which the node stops being a member without
	// another heartbeat.
	ExpiresAt time.Time

	process process
}
