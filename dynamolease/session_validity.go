package dynamolease

import (
	"sync/atomic"
	"time"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// A sessionValidity is until when a holder may count on a session. It moves with each heartbeat.
type sessionValidity struct {
	time  *rowstore.Time
	until atomic.Int64 // a reading of the elapsed clock's Max
	exp   atomic.Int64 // the expiry in the session's row, store time in milliseconds
	over  atomic.Bool
}

func (v *sessionValidity) remaining() time.Duration {
	if v.over.Load() {
		return 0
	}
	return max(0, time.Duration(v.until.Load())-v.time.Elapsed().Max)
}

// A heldLease is one lease that a session holds: for as long as the session lives, or until the
// lease is released. Once the lease is revoked, the session's heartbeats do not extend it any more.
type heldLease struct {
	session *sessionValidity
	epoch   int64
	over    atomic.Bool
	revoked atomic.Bool
	until   atomic.Int64 // a reading of the elapsed clock's Max, once it is revoked
}

func (h *heldLease) remaining() time.Duration {
	if h.over.Load() {
		return 0
	}
	left := h.session.remaining()
	if h.revoked.Load() {
		left = min(left, max(0, time.Duration(h.until.Load())-h.session.time.Elapsed().Max))
	}
	return left
}

// revoke ends the lease where the session would end now without another heartbeat.
func (h *heldLease) revoke() {
	if !h.revoked.Load() {
		h.until.Store(h.session.until.Load())
		h.revoked.Store(true)
	}
}

// A revokedLease is a lease that a session was told to give up.
type revokedLease struct {
	epoch int64
	since time.Duration // a reading of the elapsed clock's Min
}
