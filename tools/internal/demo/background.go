package demo

import (
	"context"
	"io/fs"
)

// A background counts the input in one plain process while the workers count.
type background struct {
	cancel context.CancelFunc
	done   chan struct{}
	tally  [Partitions]tally // once done is closed
	err    error
}

func countInBackground(ctx context.Context, input fs.FS) *background {
	ctx, cancel := context.WithCancel(ctx)
	b := &background{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(b.done)
		b.tally, b.err = plainCount(ctx, input)
	}()
	return b
}

// stop ends the count and waits for its end.
func (b *background) stop() {
	b.cancel()
	<-b.done
}

func (b *background) wait(ctx context.Context) ([Partitions]tally, error) {
	select {
	case <-b.done:
		return b.tally, b.err
	case <-ctx.Done():
		return [Partitions]tally{}, context.Cause(ctx)
	}
}

// soFar returns the sum, or false while it is not complete.
func (b *background) soFar() (sum tally, ok bool) {
	select {
	case <-b.done:
		for _, t := range b.tally {
			sum.add(t)
		}
		return sum, b.err == nil
	default:
		return sum, false
	}
}
