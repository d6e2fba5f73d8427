package dynamolease

import (
	"context"
	"log/slog"
	"time"

	"github.com/dynamolease/dynamolease/internal/elapsed"
	"github.com/dynamolease/dynamolease/internal/storeclock"
)

// Options configure a [Store]. The zero value of each field stands for its default.
type Options struct {
	// Clock chooses the time by which leases expire. Defaults to the store's own clock; see
	// [ClockOptions].
	Clock ClockOptions

	// Renewal chooses how Renew writes. Defaults to [Transactions].
	Renewal Renewal

	// RequestTimeout bounds each single request. If a request stays unanswered, the call makes
	// more of them. In an operation with a ttl, a sixth of the ttl also bounds each request.
	// Defaults to 2 seconds; at least 10 ms.
	RequestTimeout time.Duration

	// Retention is the time for which the row of a lease stays in the table after its expiry or
	// release. After that, DynamoDB's TTL may delete it. (Rows of members stay for an hour.)
	// Defaults to 24 hours; at most a year, and at least 1 hour, because an epoch can go back if a
	// row does not outlive its last use.
	Retention time.Duration

	// CheckpointRetention is the time for which the row of a lease with a checkpoint stays in the
	// table after its expiry or release. A service that is stopped for longer begins its work anew.
	// Defaults to 0, which stands for ever: until [Store.Forget]. Otherwise at least 1 hour, and no
	// less than Retention.
	CheckpointRetention time.Duration

	// OnRequest, if set, is called after each request that the store has made, for metrics: see
	// [Request]. The calls come one at a time, in order, from a goroutine of their own, so that a
	// slow one delays no request. At most 10,000 calls wait; further ones are left out, which is
	// logged. [Store.Close] waits for those that are left. The context has the values of the one that
	// the request was made with, and no end. If OnRequest is set, each request also asks DynamoDB for
	// the capacity that it consumed, which costs nothing.
	OnRequest func(context.Context, Request)

	// Logger gets the few messages that an operator should read. Messages about what the store does
	// in the background wait in a queue, so that a slow handler delays nothing: at most 1,000, and
	// further ones are left out. Defaults to [slog.Default].
	Logger *slog.Logger

	// IgnoreWallClock excludes the wall clock when this node measures how much time has passed.
	// By default the wall clock counts too: a pause that only the wall clock shows ends this
	// node's leases, and so does a wall clock that steps forward. That costs the node its leases
	// once, never exclusion.
	IgnoreWallClock bool

	// Elapsed replaces the clocks with which this node measures how much time has passed. It is
	// for tests in virtual time. It must be safe for concurrent use and never go back. atLeast is
	// a lower bound of the time since some fixed moment, and atMost is an upper bound.
	//
	// Defaults to the system's clocks: the monotonic clock for atLeast; the largest of monotonic
	// clock, boot time (Linux) and wall clock for atMost.
	Elapsed func() (atLeast, atMost time.Duration)
}

// ClockOptions choose the time by which leases expire. The zero value is the store's own clock, with
// the defaults below. A node reads it from the Date header of the store's responses. All nodes
// that share a table must use one kind of clock. If no response has a usable Date, the store's time
// stays unknown, and calls fail and say so.
type ClockOptions struct {
	// Slack is by how much the Date header may be late, beyond its whole seconds, because a front
	// end caches it. The time until an expired lease can be taken grows as much. Defaults to 1
	// second; at most 1 hour.
	Slack time.Duration

	// Margin widens the bounds on either side, because the store consists of many machines.
	// Defaults to 100 ms; at most 1 hour.
	Margin time.Duration

	// DriftPPM is by how much this node's clock and the store's may differ in rate, in parts per
	// million. Defaults to 200; at most 100,000.
	DriftPPM int

	node    bool
	maxSkew time.Duration // of this node's wall clock, with node
}

// NodeClock returns a clock that takes the time from each node's own wall clock. That must never be
// wrong by more than maxSkew, which is at most 24 hours. An expired lease can be taken twice maxSkew
// later. Choose NodeClock only if something between the nodes and the store forges dates.
func NodeClock(maxSkew time.Duration) ClockOptions { return ClockOptions{node: true, maxSkew: maxSkew} }

// A Renewal chooses how Renew writes.
type Renewal int

const (
	// Transactions renews up to 100 leases with one TransactWriteItems: the fewest requests, and 2
	// write units a lease. If the transaction is refused, or meets another write of one of its rows,
	// its leases are renewed as with EachItem: that is 1 write unit a lease more.
	Transactions Renewal = iota
	// EachItem renews each lease with an UpdateItem of its own, 32 at a time: 1 write unit a lease.
	// It is the only way on a multi-Region strongly consistent table, which has no transactions.
	// Let the HTTP client keep as many connections: see docs/operations.md.
	EachItem
)

const (
	defaultRequestTimeout = 2 * time.Second
	defaultRetention      = 24 * time.Hour
)

func (o *Options) setDefaults() {
	setDefault(&o.RequestTimeout, defaultRequestTimeout)
	setDefault(&o.Retention, defaultRetention)
	setDefault(&o.Clock.Slack, storeclock.DefaultSlack)
	setDefault(&o.Clock.Margin, storeclock.DefaultMargin)
	setDefault(&o.Clock.DriftPPM, storeclock.DefaultDriftPPM)
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
}

func setDefault[T time.Duration | int](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

// validate names the first field that cannot be used.
func (o *Options) validate() error {
	switch {
	case o.RequestTimeout < 10*time.Millisecond:
		return &ArgumentError{"Options.RequestTimeout", "must be at least 10ms"}
	case o.Retention < time.Hour || o.Retention > MaxTTL:
		return &ArgumentError{"Options.Retention", "must be between 1h and a year"}
	case o.CheckpointRetention != 0 && o.CheckpointRetention < max(time.Hour, o.Retention):
		return &ArgumentError{"Options.CheckpointRetention", "must be 0, or at least 1h and no less than Options.Retention"}
	case o.Renewal != Transactions && o.Renewal != EachItem:
		return &ArgumentError{"Options.Renewal", "must be Transactions or EachItem"}
	case o.Clock.Slack < 0 || o.Clock.Slack > time.Hour:
		return &ArgumentError{"Options.Clock.Slack", "must be between 0 and 1h"}
	case o.Clock.Margin < 0 || o.Clock.Margin > time.Hour:
		return &ArgumentError{"Options.Clock.Margin", "must be between 0 and 1h"}
	case o.Clock.DriftPPM < 0 || o.Clock.DriftPPM > 100_000:
		return &ArgumentError{"Options.Clock.DriftPPM", "must be between 0 and 100000"}
	case o.Clock.node && (o.Clock.maxSkew <= 0 || o.Clock.maxSkew > 24*time.Hour):
		return &ArgumentError{"NodeClock.maxSkew", "must be more than 0 and at most 24h"}
	}
	return nil
}

// nodeClock returns the clock with which this node measures how much time has passed.
func (o *Options) nodeClock() elapsed.Stopwatch {
	if o.Elapsed == nil {
		return elapsed.System(o.IgnoreWallClock)
	}
	custom := o.Elapsed
	return func() elapsed.Reading {
		atLeast, atMost := custom()
		return elapsed.Reading{Min: atLeast, Max: max(atLeast, atMost)}
	}
}

func (o *Options) storeClock(node elapsed.Stopwatch) *storeclock.Clock {
	return storeclock.New(storeclock.Config{
		Elapsed:  node,
		Slack:    o.Clock.Slack,
		Margin:   o.Clock.Margin,
		DriftPPM: o.Clock.DriftPPM,
		Node:     o.Clock.node,
		MaxSkew:  o.Clock.maxSkew,
	})
}
