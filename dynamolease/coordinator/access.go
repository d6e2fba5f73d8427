package coordinator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/internal/request"
)

// proveAtStart returns an error if the node lacks a permission without which it cannot work. What only
// a takeover needs is no such error, but told: a deployment should end with a node that is not
// healthy, rather than that a node which restarts after a change of the policy cannot come back.
//
// The check has a part of a round. A store that does not answer holds nothing up: rounds go on with
// the check.
func (c *Coordinator) proveAtStart(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Interval/4)
	defer cancel()
	needed, takeovers := c.access()
	err := c.store.CheckAccess(ctx, needed)
	var setup *dynamolease.SetupError
	if errors.As(err, &setup) {
		return err
	}
	c.noteAccess(ctx, errors.Join(err, c.store.CheckAccess(ctx, takeovers)))
	return nil
}

// maxUnproved is the longest time that a node waits before it repeats a check that found something missing.
const maxUnproved = time.Minute

// proveAgain goes on with the check until all permissions are there, also those that were granted
// since the start: the less often the longer one has been missing. The round does not wait for it.
func (c *Coordinator) proveAgain(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.permissions; p.proved || p.proving || time.Now().Before(p.again) {
		return
	}
	c.permissions.proving = true
	c.running.Go(func() {
		needed, takeovers := c.access()
		c.noteAccess(ctx, errors.Join(c.store.CheckAccess(ctx, needed), c.store.CheckAccess(ctx, takeovers)))
	})
}

// access returns what the node uses its store for: always, and for takeovers alone.
func (c *Coordinator) access() (needed, takeovers dynamolease.Access) {
	needed = dynamolease.Access{Services: []string{c.cfg.Service}, Renew: c.cfg.LeaseMode == PerLease}
	for _, g := range c.groups {
		needed.Groups = append(needed.Groups, g.Name)
	}
	return needed, dynamolease.Access{Takeovers: []string{c.cfg.Service}}
}

// noteAccess keeps what a check has found. One that was not answered leaves open what it is.
func (c *Coordinator) noteAccess(ctx context.Context, err error) {
	var setup *dynamolease.SetupError
	c.mu.Lock()
	before := c.permissions.missing
	switch {
	case err == nil:
		c.permissions = permissions{proved: true}
	case errors.As(err, &setup), request.Classify(err) == request.Failed: // such as a table without transactions
		now, since := time.Now(), c.permissions.since
		if since.IsZero() {
			since = now
		}
		c.permissions = permissions{missing: err, since: since, again: now.Add(min(now.Sub(since)/2, maxUnproved))}
	default:
		c.permissions.proving = false
	}
	after := c.permissions.missing
	c.mu.Unlock()
	switch {
	case before == nil && after != nil:
		c.logger.ErrorContext(ctx, "dynamolease: permissions are missing, this node cannot do all that it may have to", "err", after)
	case before != nil && after == nil:
		c.logger.InfoContext(ctx, "dynamolease: the permissions that were missing are there now")
	}
}

// unable returns what is missing, for Health. The caller holds the mutex.
func (c *Coordinator) unable() error {
	if c.permissions.missing == nil {
		return nil
	}
	return fmt.Errorf("this node cannot do all that it may have to: %w", c.permissions.missing)
}
