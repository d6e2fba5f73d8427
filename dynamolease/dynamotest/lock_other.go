//go:build !unix

package dynamotest

import "context"

// lockFile does nothing: no build is pinned for a system without flock, so nothing is installed there.
func lockFile(context.Context, string) (unlock func(), err error) { return func() {}, nil }
