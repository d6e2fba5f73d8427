package processlease

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/internal/elapsed"
)

// A Client is the part of DynamoDB that process leases need. A *[dynamodb.Client] is one. The
// methods must pass the options of each call on: the options turn the SDK's own retries off.
type Client interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

const (
	// DefaultTTL suits most programs: a manager then renews every 2 seconds.
	DefaultTTL = 10 * time.Second

	// KeepFences is the retention of fences that stay forever.
	KeepFences time.Duration = -1

	maxTTL       = 365 * 24 * time.Hour
	maxRetention = 10 * maxTTL
)

// retryDelay is the wait between a failed request and the retry, unless the interval of the
// caller is shorter.
const retryDelay = 250 * time.Millisecond

// Options configure an [Authority]. The zero value of each field stands for its default.
type Options struct {
	// RequestTimeout bounds each single request, in addition to a sixth of the ttl. Defaults to 2
	// seconds.
	RequestTimeout time.Duration

	// FenceRetention is the time for which a fence stays in the table after the term that it began
	// was superseded. Until then, a caller that fenced its predecessor can get the proof again.
	// Defaults to 90 days, and is 10 years at most. [KeepFences] keeps all fences.
	FenceRetention time.Duration

	// Logger gets the few messages that an operator should read. They wait in a queue, so that a slow
	// handler delays nothing: at most 1,000, and further ones are left out. Defaults to
	// [slog.Default].
	Logger *slog.Logger

	// IgnoreWallClock excludes the wall clock when a manager counts how much time has passed. By
	// default the wall clock counts too: a pause that only the wall clock shows ends the lease, and
	// so does a wall clock that steps forward. That costs the boot its lease, never exclusion.
	IgnoreWallClock bool

	// Elapsed replaces the clocks with which this process measures how much time has passed. It is
	// for tests in virtual time. It must be safe for concurrent use and never go back. atLeast is a
	// lower bound of the time since some fixed moment and never runs fast. atMost is an upper bound
	// and never runs slow.
	//
	// Defaults to the system's clocks: the monotonic clock for atLeast; the largest of monotonic
	// clock, boot time (Linux) and wall clock for atMost.
	Elapsed func() (atLeast, atMost time.Duration)
}

func (o *Options) setDefaults() {
	if o.RequestTimeout == 0 {
		o.RequestTimeout = 2 * time.Second
	}
	if o.FenceRetention == 0 {
		o.FenceRetention = 90 * 24 * time.Hour
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
}

// validate names the first field that cannot be used.
func (o *Options) validate() error {
	switch {
	case o.RequestTimeout < time.Millisecond:
		return &dynamolease.ArgumentError{Argument: "Options.RequestTimeout", Problem: "must be at least 1ms"}
	case o.FenceRetention != KeepFences && (o.FenceRetention < time.Hour || o.FenceRetention > maxRetention):
		return &dynamolease.ArgumentError{Argument: "Options.FenceRetention", Problem: "must be between 1h and 10 years, or KeepFences"}
	}
	return nil
}

// clock returns the clock with which this process measures how much time has passed.
func (o *Options) clock() elapsed.Stopwatch {
	if o.Elapsed == nil {
		return elapsed.System(o.IgnoreWallClock)
	}
	custom := o.Elapsed
	return func() elapsed.Reading {
		atLeast, atMost := custom()
		return elapsed.Reading{Min: atLeast, Max: max(atLeast, atMost)}
	}
}

func checkTTL(ttl time.Duration) error {
	if ttl <= 0 || ttl > maxTTL || ttl%time.Millisecond != 0 {
		return &dynamolease.ArgumentError{Argument: "ttl", Problem: fmt.Sprintf("%v must be a whole number of milliseconds from 1ms to %v", ttl, maxTTL)}
	}
	return nil
}
