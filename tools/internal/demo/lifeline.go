package demo

import (
	"context"
	"errors"
	"io"
)

var errParentGone = errors.New("the parent closed the pipe or is gone")

// Lifeline returns a context that ends when r does. For a worker, r is its standard input, which
// the parent holds open: so on any system it ends with its parent, however that ends.
func Lifeline(ctx context.Context, r io.Reader) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		// Nobody waits for this goroutine: nothing can interrupt the read, and it ends with the
		// process at the latest.
		_, _ = io.Copy(io.Discard, r)
		cancel(errParentGone)
	}()
	return ctx, func() { cancel(nil) }
}
