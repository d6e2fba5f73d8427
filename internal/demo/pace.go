package demo

import (
	"context"
	"time"
)

// A pace spreads a number of steps evenly over a time, so that one can watch them. Steps that take longer by themselves
// are not slowed down.
type pace struct {
	started time.Time
	total   time.Duration
	steps   int
	done    int
}

func newPace(total time.Duration, steps int) *pace {
	return &pace{started: time.Now(), total: total, steps: max(1, steps)}
}

// wait waits until the next step is due, or the end if there is none.
func (p *pace) wait(ctx context.Context) error {
	p.done = min(p.done+1, p.steps)
	due := p.total * time.Duration(p.done) / time.Duration(p.steps)
	timer := time.NewTimer(due - time.Since(p.started))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
