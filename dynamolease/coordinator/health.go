package coordinator

import (
	"errors"
	"fmt"
)

// Health is nil while the node's renewals succeed, and an error that says what is wrong when they have not for so long that half
// of the ttl is over (a round and a quarter, where rounds are longer than two fifths of the ttl): time to have a look, while the
// node's leases are good still. It is an error before the node has joined, and after Run has returned. It makes no request, and
// is meant for a health check that is asked often.
func (c *Coordinator) Health() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	enough := min(c.cfg.TTL/2, c.cfg.TTL-c.cfg.Interval*5/4)
	switch {
	case c.over:
		return errors.New("the coordinator has stopped")
	case c.session == nil:
		return c.unwell("the node has not joined the service yet")
	case c.session.Remaining() < enough:
		return c.unwell(fmt.Sprintf("no heartbeat has succeeded for more than %v of the ttl of %v, %v are left", c.cfg.TTL-enough, c.cfg.TTL, c.session.Remaining()))
	}
	if c.cfg.Renewal == Sessions {
		return nil
	}
	for _, g := range c.groups {
		for _, w := range g.workers {
			if left := w.lease.Load().Remaining(); !w.ending && left < enough {
				return c.unwell(fmt.Sprintf("the lease of %s/%d has not been renewed for more than %v of the ttl of %v, %v are left", g.Name, w.partition, c.cfg.TTL-enough, c.cfg.TTL, left))
			}
		}
	}
	return nil
}

// unwell adds the latest failure, which may be why. The caller has the mutex.
func (c *Coordinator) unwell(what string) error {
	if c.failure == nil {
		return errors.New(what)
	}
	return fmt.Errorf("%s; the latest failure: %w", what, c.failure)
}
