// Package jitter spreads waits at random. So nodes that began together do not send all their
// requests together.
package jitter

import (
	"context"
	"math/rand/v2"
	"time"
)

// A Source returns durations from 0 up to, but not including, n. n must be positive. A Source
// must be safe for concurrent use.
type Source func(n time.Duration) time.Duration

type key struct{}

// With returns a context in which source spreads the waits. It is for simulations that must be
// repeatable.
func With(ctx context.Context, source Source) context.Context {
	return context.WithValue(ctx, key{}, source)
}

// Below returns a duration from 0 up to, but not including, n. It is random unless the context
// has a source.
func Below(ctx context.Context, n time.Duration) time.Duration {
	if source, ok := ctx.Value(key{}).(Source); ok {
		return source(n)
	}
	return rand.N(n)
}
