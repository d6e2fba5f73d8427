package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/operate"
	"github.com/dynamolease/dynamolease/dynamolease"
)

// The library has the same bounds, but checks them only when it is called.
const (
	maxGrace    = 365 * 24 * time.Hour
	maxSegments = 16
)

func (p *program) reap() *cobra.Command {
	c := &cobra.Command{
		Use: "reap", Short: "Delete the rows that are of no use any more", Args: takes(),
		Long: `Deletes the rows whose ttl has surely passed, and that are not live. DynamoDB does that too, but may take days over it. Each delete
is conditional on the row being as it was seen, so it may run at any time. It scans the whole table, half a read unit for 4 KB.

A run that stops early, because of --limit, --timeout, Ctrl-C or throttling, says so; the next one goes on there, with the same
--segments. Without --timeout the run has no limit.`,
	}
	yes := addYes(c)
	var cfg dynamolease.ReapConfig
	c.Flags().DurationVar(&cfg.Grace, "grace", 0, "how long a row stays after its ttl has passed")
	c.Flags().IntVar(&cfg.Segments, "segments", 1, "parts of the table that are scanned at the same time, 1 to 16")
	c.Flags().IntVar(&cfg.Limit, "limit", 0, "rows that are deleted at most (default no limit)")
	timeout := c.Flags().Duration("timeout", 0, "how long the run may take at most (default no limit)")
	bound(c.Flags(), "grace", "must be between 0 and a year (8760h)", func() bool { return cfg.Grace >= 0 && cfg.Grace <= maxGrace })
	bound(c.Flags(), "segments", "must be between 1 and 16", func() bool { return cfg.Segments >= 1 && cfg.Segments <= maxSegments })
	bound(c.Flags(), "limit", "must not be negative; 0 is no limit", func() bool { return cfg.Limit >= 0 })
	bound(c.Flags(), "timeout", "must be more than 0; leave it out for no limit", func() bool { return *timeout > 0 })
	c.RunE = p.onTable(func(ctx context.Context, conn *connection, _ []string) (operate.Report, error) {
		if err := p.confirm(ctx, *yes, "The whole table "+conn.Name+" is scanned, and rows that are dead are deleted.\n", "Reap?"); err != nil {
			return nil, err
		}
		if *timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, *timeout) // the run stops shortly before, without an error
			defer cancel()
		}
		reaping, err := conn.Reap(ctx, cfg)
		if err != nil && reaping.Scanned == 0 {
			return nil, err
		}
		return reaping, err
	})
	return c
}
