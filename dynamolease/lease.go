package dynamolease

import (
	"strings"
	"time"

	"github.com/dynamolease/dynamolease/internal/elapsed"
)

// A Lease is the ownership of one partition of a group, as the store last saw it. It is a value: it does not follow
// what happens to the row later.
type Lease struct {
	Group     string
	Partition int
	Owner     string

	// Epoch is the fencing token: it grows at every acquisition that is not an extension, also when the row was
	// deleted in between, and so orders the holders of a partition for ever. It starts at the store's time in
	// milliseconds and stays far below 2^53.
	Epoch int64

	// ExpiresAt is the time on the store's clock from which on the lease is not live; of a lease in a session, as far as
	// the session's latest heartbeat went, and zero where the session was not looked at. To compare it with this node's
	// clock tells nothing; [Lease.Remaining] does.
	ExpiresAt time.Time

	// Session is the session that the lease lives as long as, as "node#id"; empty for a lease with its own expiry.
	Session string

	// Checkpoint is what the latest holder left with [Store.Checkpoint] or [Store.Transact]; nil when nobody did.
	Checkpoint []byte

	revoked bool // as the row said
	tenure  tenure
}

// Remaining is how long this process may still count on the lease: until ttl after the call that got or extended it
// began, on this node's own elapsed-time clock, and never longer than the row allows. It is zero for a lease of
// another owner, for one that has run out (also while the process or the machine was suspended), and for one whose
// answer came too late. It is not refreshed by later calls: use the lease that the latest Acquire or Renew returned.
func (l Lease) Remaining() time.Duration { return l.tenure.remaining() }

// Node returns the node that owns the lease: the part of Owner before '#'. A lease in a session is owned by the session's
// node, and a coordinator's plain lease by "node#id", where the id is the process's own. Of an owner without '#' it is the
// whole name.
func (l Lease) Node() string {
	node, _, _ := strings.Cut(l.Owner, "#")
	return node
}

// A tenure is until when a holder may believe in a lease. The zero tenure is over.
type tenure struct {
	clock *nodeClock
	until time.Duration // a reading of the clock's Max
	grip  *grip         // instead, for a lease in a session
}

// A nodeClock is the elapsed-time clock of this node.
type nodeClock struct{ now elapsed.Clock }

func (t tenure) remaining() time.Duration {
	if t.grip != nil {
		return t.grip.remaining()
	}
	if t.clock == nil {
		return 0
	}
	return max(0, t.until-t.clock.now().Max)
}
