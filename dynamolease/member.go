package dynamolease

import "time"

// A Member is a node that takes part in a service, as its latest heartbeat says.
type Member struct {
	Service string
	Node    string
	Address string

	// Groups are the lease groups that the node takes part in, sorted, each once.
	Groups []string

	// Session is the node's session, as "node#id", and empty for a member by heartbeats alone. A node that restarted
	// under its own name is listed once, by its newest session.
	Session string

	// Signals is how often the session has signalled the others that there is something to look at, see
	// [Session.Signal]: 0 for one that does not signal, and never less than before for one session.
	Signals int64

	// Drained is true while an operator keeps the node from taking part: see [Store.Drain].
	Drained bool

	// ExpiresAt is the time on the store's clock at which the node stops being a member without another heartbeat.
	ExpiresAt time.Time
}
