package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/operate"
)

func (p *program) release() *cobra.Command {
	c := &cobra.Command{
		Use: "release GROUP PARTITION", Short: "Take a lease from its holder", Args: takes("GROUP", "PARTITION"),
		Long: `Takes the lease of a partition from its holder, for example from a stuck one. The lease does not become free while its holder
may still believe in it: nothing extends it any more, and it is free when the holder's own time has certainly passed, or the
holder has released it. Then fenced writes of the holder are refused, and anybody can acquire it, also the former holder.

It waits for that, and prints the epoch after. If the waiting ends before, by --wait or Ctrl-C, the order stands, and the exit
code is 5: run the same again to go on. An order cannot be taken back.`,
	}
	yes := addYes(c)
	wait := waitFlag(c, 5*time.Minute, "how long to wait at most; 0 gives the order only")
	c.RunE = p.onTable(func(ctx context.Context, c *connection, args []string) (operate.Report, error) {
		partition, err := parsePartition(args[1])
		if err != nil {
			return nil, err
		}
		var held operate.Lease
		err = p.inTime(ctx, func(ctx context.Context) (err error) {
			held, err = c.Lease(ctx, args[0], partition)
			return err
		})
		if err != nil {
			return nil, err
		}
		if err := p.confirm(ctx, *yes, held.Holder(), "Take it?"); err != nil {
			return nil, err
		}
		released, err := c.Release(ctx, held, p.waiting(*wait))
		if err != nil && exitCode(err) != exitOpen {
			return nil, err // nothing was ordered
		}
		return released, err
	})
	return c
}

// waitFlag adds the flag that says how long to wait.
func waitFlag(c *cobra.Command, value time.Duration, usage string) *time.Duration {
	wait := c.Flags().Duration("wait", value, usage)
	bound(c.Flags(), "wait", "must not be negative", func() bool { return *wait >= 0 })
	return wait
}

func (p *program) waiting(wait time.Duration) operate.Waiting {
	return operate.Waiting{Wait: wait, Look: p.timeout, Tell: func(line string) { fmt.Fprintln(p.err, harmless(line)) }}
}
