// Package jitter spreads waits, so that nodes that began together do not stay together.
package jitter

import (
	"context"
	"math/rand/v2"
	"time"
)

// A Source gives durations from 0 up to n, without n, which is positive. It is safe for concurrent use.
type Source func(n time.Duration) time.Duration

type key struct{}

// With is a context under which waits are spread by source, for simulations that are to be repeated.
func With(ctx context.Context, source Source) context.Context {
	return context.WithValue(ctx, key{}, source)
}

// Below is a duration from 0 up to n, without n: random, unless the context has a source.
func Below(ctx context.Context, n time.Duration) time.Duration {
	if source, ok := ctx.Value(key{}).(Source); ok {
		return source(n)
	}
	return rand.N(n)
}
