package coordinator

import (
	"context"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// maxHinting is for how long the end of Run waits for the last hint.
const maxHinting = time.Second

// hinting calls Config.Hint when the others should look, until stop is called: then once more if
// there is a reason to, since what the node has given up at its end is free now.
func (c *Coordinator) hinting(ctx context.Context) (stop func()) {
	if c.cfg.Hint == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ending, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-c.hints:
				c.callHint(ctx)
			case <-ending:
				select {
				case <-c.hints:
					c.callHint(ctx)
				default:
				}
				return
			}
		}
	}()
	return func() {
		defer cancel()
		close(ending)
		select {
		case <-done:
		case <-time.After(maxHinting):
		}
	}
}

// callHint calls Config.Hint once. A panic is logged.
func (c *Coordinator) callHint(ctx context.Context) {
	others := c.others()
	if len(others) == 0 {
		return
	}
	defer func() {
		if r := recover(); r != nil {
			c.logger.ErrorContext(ctx, "dynamolease: Config.Hint panicked", "err", r)
		}
	}()
	c.cfg.Hint(ctx, others)
}

// others returns the other members that take part in a group of this node.
func (c *Coordinator) others() []dynamolease.Member {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.members), func(m dynamolease.Member) bool {
		shares := func(g *group) bool { return slices.Contains(m.Groups, g.Name) }
		return m.Node == c.cfg.Node || !slices.ContainsFunc(c.groups, shares)
	})
}
