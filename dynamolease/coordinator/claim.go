package coordinator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// asks reports whether a node has to claim a group, or to ask again for one that another service works.
// It does so once a round.
func (c *Coordinator) asks(g *group, nodes []string, now time.Time) bool {
	return g.claimedIn != c.currentSession().ID() && slices.Contains(nodes, c.cfg.Node) && !now.Before(g.asks)
}

// claim has this node's service work a group, once in each session, before the node takes any of it.
// While another service does, the node holds back: it takes nothing, and asks again in each round. A
// node that is drained, or not among the members, takes nothing anyway: the group may go to another
// service meanwhile.
func (c *Coordinator) claim(ctx context.Context, g *group, session *dynamolease.Session, nodes []string) error {
	switch {
	case !slices.Contains(nodes, c.cfg.Node):
		g.claimedIn = ""
	case c.asks(g, nodes, time.Now()):
		g.asks = time.Now().Add(c.cfg.Interval * 9 / 10)             // rounds are a tenth apart at random
		asking, cancel := context.WithTimeout(ctx, c.cfg.Interval/4) // the other groups do not wait for longer
		defer cancel()
		by, err := c.store.ClaimGroup(asking, g.Name, c.cfg.Service)
		if err == nil && by == c.cfg.Service {
			g.claimedIn = session.ID()
			g.refresh.want(time.Now())
		}
		if by != "" || err == nil {
			c.noteService(ctx, g, by)
		}
		return err
	}
	return nil
}

// noteService keeps which service works a group.
func (c *Coordinator) noteService(ctx context.Context, g *group, service string) {
	if service == c.cfg.Service {
		service = ""
	}
	c.mu.Lock()
	before := g.otherService
	g.otherService = service
	c.mu.Unlock()
	switch {
	case service == before:
	case service == "":
		c.logger.InfoContext(ctx, "dynamolease: this node's service works the group now", "group", g.Name, "other_service", before)
	default:
		c.logger.ErrorContext(ctx, "dynamolease: another service works this group, this node takes nothing of it", "group", g.Name, "other_service", service)
	}
}

// shared returns an error for a group that another service works, for Health. The caller holds the
// mutex.
func (c *Coordinator) shared() error {
	for _, g := range c.groups {
		if g.otherService != "" {
			return fmt.Errorf("the group %q is worked by the service %q, which still has nodes: this node takes nothing of it; use another name for one of the groups",
				g.Name, g.otherService)
		}
	}
	return nil
}
