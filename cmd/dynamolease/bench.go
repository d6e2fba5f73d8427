package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynamolease/dynamolease/internal/bench"
	"github.com/dynamolease/dynamolease/internal/operate"
)

func (p *program) bench() *cobra.Command {
	c := &cobra.Command{
		Use: "bench", Short: "Measure what the library costs, beside bare SDK calls", Args: takes(), Annotations: withoutTable(),
		Long: `Measures what the library costs, in one run of some minutes: each operation beside bare SDK calls that send the same requests;
one round of fleets that keep 10 to 10,000 leases, in sessions and by other ways, with what is billed for a month; how long
partitions are not worked when a node stops or crashes; how fast dead rows are deleted. With Go and the source at hand,
also how long a plan takes.

The database is a DynamoDB-compatible server that it starts and ends. To use one that is running, set DYNAMODB_ENDPOINT to its
URL; it makes a table of its own there and deletes it.`,
	}
	var cfg bench.Config
	c.Flags().IntVar(&cfg.Rounds, "rounds", 100, "how many times the sides of a row take turns")
	c.Flags().DurationVar(&cfg.Limit, "limit", 3*time.Second, "how long a row may take; it then has fewer rounds")
	pattern := c.Flags().String("run", "", "measure only what matches this regular `EXPRESSION`")
	timeout := c.Flags().Duration("timeout", 0, "after which time the benchmark gives up (default no limit)")
	bound(c.Flags(), "rounds", "must be at least 1", func() bool { return cfg.Rounds >= 1 })
	bound(c.Flags(), "limit", "must be more than 0", func() bool { return cfg.Limit > 0 })
	bound(c.Flags(), "timeout", "must be more than 0; leave it out for no limit", func() bool { return *timeout > 0 })
	c.Flags().StringVar(&cfg.Docs, "docs", "", "write the tables into cost.md of this `DIRECTORY`, and cost.json and plots beside it")
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		if cfg.Match, err = regexp.Compile(*pattern); err != nil {
			return misuse("--run: %v", err)
		}
		if err := checkDocs(cfg.Docs, *pattern); err != nil {
			return err
		}
		cfg.JSON = p.json
		run := func(ctx context.Context) error { return bench.Run(ctx, cfg, p.out, p.err) }
		if *timeout == 0 {
			return run(c.Context())
		}
		return operate.Within(c.Context(), "--timeout", *timeout, run)
	}
	return c
}

// checkDocs checks what would otherwise fail when all is measured.
func checkDocs(dir, pattern string) error {
	switch {
	case dir == "":
		return nil
	case pattern != "":
		return misuse("--docs needs a run of everything: leave --run out")
	}
	if _, err := os.Stat(filepath.Join(dir, "cost.md")); err != nil {
		return misuse("--docs must be a directory with a cost.md, such as docs: %v", err)
	}
	return nil
}
