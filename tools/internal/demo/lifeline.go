package demo

import (
	"context"
	"errors"
	"io"
)

var errParentGone = errors.New("the parent closed the pipe or is gone")

// Lifeline returns a context that ends when r does. A worker uses its standard input, which the parent holds open: so it
// ends with its parent, however that ends, on any system.
func Lifeline(ctx context.Context, r io.Reader) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		// Nobody waits for this goroutine: the read cannot be interrupted, and it ends with the process at the latest.
		_, _ = io.Copy(io.Discard, r)
		cancel(errParentGone)
	}()
	return ctx, func() { cancel(nil) }
}
