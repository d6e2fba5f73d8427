package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/operate"
)

func (p *program) drain() *cobra.Command {
	c := &cobra.Command{
		Use: "drain SERVICE NODE", Short: "Have a node hand everything over and take nothing", Args: takes("SERVICE", "NODE"),
		Long: `Has a node hand its partitions over to the others, and take nothing until it is undrained. It stays a member. It is about the name,
and outlives restarts. Coordinators go by it in their next round; nodes that use leases without one have to look for themselves.
A node that is drained already is no error, and nothing is asked.

With --wait it waits until the node holds nothing of the service's groups. If it does still when the waiting ends, the node stays
drained, and the exit code is 5.`,
	}
	yes := addYes(c)
	wait := waitFlag(c, 0, "how long to wait at most until the node holds nothing")
	c.RunE = p.onTable(func(ctx context.Context, c *connection, args []string) (operate.Report, error) {
		now, err := p.standing(ctx, c, args)
		if err != nil {
			return nil, err
		}
		if err := p.confirm(ctx, *yes || now.Drained, now.Prospect(), "Drain it?"); err != nil {
			return nil, err
		}
		// Also send the order if the node is drained: an earlier undrain may still be on its way,
		// and must not win.
		after, err := c.Drain(ctx, args[0], args[1], p.waiting(*wait))
		if !after.Drained {
			return nil, err
		}
		return after, err
	})
	return c
}

func (p *program) undrain() *cobra.Command {
	c := &cobra.Command{
		Use: "undrain SERVICE NODE", Short: "Have a drained node take part again", Args: takes("SERVICE", "NODE"),
		Long: `Ends what drain began: the node has its share again from its next round on. A node that is not drained is no error, and
nothing is asked.`,
	}
	yes := addYes(c)
	c.RunE = p.onTable(func(ctx context.Context, c *connection, args []string) (operate.Report, error) {
		now, err := p.standing(ctx, c, args)
		if err != nil {
			return nil, err
		}
		if err := p.confirm(ctx, *yes || !now.Drained, now.Retrospect(), "Undrain it?"); err != nil {
			return nil, err
		}
		// Also send the order if the node is not drained: an earlier drain may still be on its way,
		// and must not win.
		var after operate.Standing
		err = p.inTime(ctx, func(ctx context.Context) (err error) {
			after, err = c.Undrain(ctx, now)
			return err
		})
		return onlyIf(after, err)
	})
	return c
}

func (p *program) standing(ctx context.Context, c *connection, args []string) (s operate.Standing, err error) {
	err = p.inTime(ctx, func(ctx context.Context) error {
		s, err = c.Standing(ctx, args[0], args[1])
		return err
	})
	return s, err
}
