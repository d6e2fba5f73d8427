package coordinator

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Health returns nil while the node does its part, and otherwise an error that says what is wrong:
//
//   - The node has not joined the service yet, or Run has returned.
//   - Its renewals have failed for so long that half of the ttl is over (a round and a quarter,
//     where rounds are longer than two fifths of the ttl): somebody should look, while the node's
//     leases are still good.
//   - It is alive, and the members do not list it: others take its share. Its next heartbeat makes
//     it a member again.
//   - A handler goes on for more than a round although its lease is over ([Stuck]).
//   - A handler has failed [Config].UnhealthyAfter times in a row ([Failing]).
//   - Another service works one of the groups, or the node lacks a permission: see [State].
//   - Nodes have had different numbers of partitions for an hour ([ErrPartitions]): longer than most
//     deployments take, and no reason to restart anything.
//
// Raise an alarm on it, and let a deployment wait for it to be nil: that is readiness. It is no
// liveness: while DynamoDB is away, it is an error on all nodes, and a restart of the fleet helps
// nobody. A process whose Run has returned should end; nothing else of this needs a restart. Health
// makes no request and waits for nothing, so that a health check may call it often.
func (c *Coordinator) Health() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	enough := min(c.cfg.TTL/2, c.cfg.TTL-c.cfg.Interval*5/4)
	unrenewed := c.cfg.TTL - enough
	switch {
	case c.over:
		return errors.New("the coordinator has stopped")
	case c.session == nil:
		return c.unhealthy("the node has not joined the service yet")
	case c.session.Remaining() < enough:
		return c.unhealthy(fmt.Sprintf("no heartbeat has succeeded for more than %v of the ttl of %v, %v are left",
			unrenewed, c.cfg.TTL, c.session.Remaining()))
	}
	if w := c.leases.overdue(c.groups, enough); w != nil {
		return c.unhealthy(fmt.Sprintf("the lease of %s/%d has not been renewed for more than %v of the ttl of %v, %v are left",
			w.groupName, w.partition, unrenewed, c.cfg.TTL, c.leases.remaining(w)))
	}
	if c.absent == c.session && !c.stopped {
		return fmt.Errorf("the node is alive, and not among the members of %s", c.cfg.Service)
	}
	return cmp.Or(c.handlersHealth(), c.shared(), c.unable(), c.disagreement())
}

// unhealthy adds the latest failure, which may be the cause. The caller holds the mutex.
func (c *Coordinator) unhealthy(problem string) error {
	if c.failure == nil {
		return errors.New(problem)
	}
	return fmt.Errorf("%s; the latest failure: %w", problem, c.failure)
}

// handlersHealth returns an error that names a handler that is stuck, or has failed too often: the
// one that is so for longest. The caller holds the mutex.
func (c *Coordinator) handlersHealth() error {
	now := time.Now()
	var stuck, failing *worker
	for _, g := range c.groups {
		for _, w := range g.workers {
			switch {
			case w.stuck(now, c.cfg.Interval):
				if stuck == nil || w.overSince.Before(stuck.overSince) {
					stuck = w
				}
			case w.failing(now) && w.failures >= c.cfg.UnhealthyAfter:
				if failing == nil || w.failedSince.Before(failing.failedSince) {
					failing = w
				}
			}
		}
	}
	switch {
	case stuck != nil:
		return fmt.Errorf("the handler of %s/%d goes on since %s, although its lease is over: %w",
			stuck.groupName, stuck.partition, stuck.overSince.Format(time.RFC3339), stuck.loss)
	case failing != nil:
		return fmt.Errorf("the handler of %s/%d has failed %d times in a row since %s: %w",
			failing.groupName, failing.partition, failing.failures, failing.failedSince.Format(time.RFC3339), failing.failure)
	default:
		return nil
	}
}
