package dynamolease

import (
	"sync/atomic"
	"time"
)

// A term is how long a holder may count on a session. It moves with each heartbeat.
type term struct {
	clock *nodeClock
	until atomic.Int64 // a reading of the clock's Max
	exp   atomic.Int64 // what the session's row says, store time in milliseconds
	over  atomic.Bool
}

func (t *term) remaining() time.Duration {
	if t.over.Load() {
		return 0
	}
	return max(0, time.Duration(t.until.Load())-t.clock.now().Max)
}

// A grip is how a session holds one lease: as long as it lives, or until the lease is released. Once it is revoked the
// session's heartbeats do not extend it any more.
type grip struct {
	term    *term
	epoch   int64
	over    atomic.Bool
	revoked atomic.Bool
	until   atomic.Int64 // a reading of the clock's Max, where it is revoked
}

func (g *grip) remaining() time.Duration {
	if g.over.Load() {
		return 0
	}
	left := g.term.remaining()
	if g.revoked.Load() {
		left = min(left, max(0, time.Duration(g.until.Load())-g.term.clock.now().Max))
	}
	return left
}

// revoke ends the lease where the session would end now without another heartbeat.
func (g *grip) revoke() {
	if !g.revoked.Load() {
		g.until.Store(g.term.until.Load())
		g.revoked.Store(true)
	}
}
