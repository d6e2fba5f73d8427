package dynamolease

import (
	"strings"
	"time"

	"github.com/dynamolease/dynamolease/internal/request"
	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// A Lease is the ownership of one partition of a group, as the store last saw it. It is a value: it
// does not follow what happens to the row later.
type Lease struct {
	Group     string
	Partition int
	Owner     string

	// Epoch is the fencing token: it grows at every acquisition that is not an extension, also when
	// the row was deleted in between, and so orders the holders of a partition for ever. It starts at
	// the store's time in milliseconds and stays far below 2^53.
	Epoch int64

	// ExpiresAt is the time on the store's clock from which on the lease is not live. For a lease in a
	// session it is the time at which the session expires without another heartbeat, and zero if the
	// session was not read. Do not compare it with this node's clock; [Lease.Remaining] tells what is
	// left.
	ExpiresAt time.Time

	// Session names the session that keeps the lease, as "node#id". It is empty for a lease with its
	// own expiry.
	Session string

	// Checkpoint is what the latest holder left with [Store.Checkpoint] or [Store.Transact]; nil when
	// nobody did. Acquire returns it as it was at the very write that acquired, so that no former
	// holder has changed it since, and [Store.Resume] as it is now. From Renew it is the one that this
	// process knew last.
	Checkpoint []byte

	revoked  bool // as the row said
	validity validity
	progress *progress // of fenced work under the lease; nil for a lease that is not this process's
}

// Remaining returns how long this process may still count on the lease: until ttl after the call
// that got or extended it began, on this node's own elapsed-time clock, and never longer than the
// row allows. It is zero for a lease of another owner, for one that has run out (also while the
// process or the machine was suspended), and for one whose answer came too late. Later calls do not
// refresh it: use the lease that the latest Acquire or Renew returned.
func (l Lease) Remaining() time.Duration { return l.validity.remaining() }

// Revoked reports whether an operator has taken the lease from its holder (see [Store.Revoke]):
// nothing extends it any more. Of a lease in a session of this process it tells as soon as the
// session knows: finish the work, and release it. Of any other it is as the store saw it. (The next
// Renew leaves out a revoked lease with an expiry of its own.)
func (l Lease) Revoked() bool {
	return l.revoked || l.validity.held != nil && l.validity.held.revoked.Load()
}

// Loss returns why this process has lost the lease, as the [Store.Renew] that left it out has seen:
// a [LossError]; nil before. It is for a lease with an expiry of its own, and makes no request. What
// a session has lost is told by [Session.Err].
func (l Lease) Loss() error {
	if l.progress == nil {
		return nil
	}
	if loss := l.progress.loss.Load(); loss != nil {
		return loss
	}
	return nil
}

// Node returns the node that owns the lease: Owner up to the first '#'. A session's lease is owned
// by the node itself, and a coordinator's lease with an expiry of its own by "node#id".
func (l Lease) Node() string {
	node, _, _ := strings.Cut(l.Owner, "#")
	return node
}

// A validity is until when a holder may count on a lease. The zero validity is over.
type validity struct {
	time  *rowstore.Time
	until time.Duration // a reading of the elapsed clock's Max
	held  *heldLease    // instead, for a lease in a session
}

func (v validity) remaining() time.Duration {
	switch {
	case v.held != nil:
		return v.held.remaining()
	case v.time == nil:
		return 0
	default:
		return max(0, v.until-v.time.Elapsed().Max)
	}
}

// newValidity returns how long the holder may count on a row with this expiry, which an attempt
// that began at a moment wrote.
func newValidity(clock *rowstore.Time, at rowstore.Moment, ttl time.Duration, exp int64, answer request.Answer) validity {
	return validity{time: clock, until: at.Until(ttl, exp, answer)}
}
