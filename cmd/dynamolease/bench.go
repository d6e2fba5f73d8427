package main

import (
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynamolease/dynamolease/internal/bench"
)

func (p *program) bench() *cobra.Command {
	c := &cobra.Command{
		Use: "bench", Short: "Measure what the library costs, beside bare SDK calls", Args: takes(),
		Long: `Measures what the library costs, in one run of some minutes: each operation beside bare SDK calls that send the same requests;
one round of fleets that keep 10 to 10,000 leases, in sessions and by other ways, with what is billed for a month; how long
partitions are not worked when a node stops or crashes; how fast dead rows are deleted. With Go and the source at hand,
also how long a plan takes.

The database is a DynamoDB-compatible server that it starts and ends. To use one that is running, set DYNAMODB_ENDPOINT to its
URL; it makes a table of its own there and deletes it. The other flags on tables and accounts are not looked at.`,
	}
	var cfg bench.Config
	c.Flags().IntVar(&cfg.Rounds, "rounds", 100, "how many times the sides of a row take turns")
	c.Flags().DurationVar(&cfg.Limit, "limit", 3*time.Second, "how long a row may take; it then has fewer rounds")
	pattern := c.Flags().String("run", "", "measure only what matches this regular `EXPRESSION`")
	c.Flags().StringVar(&cfg.Docs, "docs", "", "write the tables into cost.md of this `DIRECTORY`, and cost.json and plots beside it")
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		if cfg.Match, err = regexp.Compile(*pattern); err != nil {
			return misuse("--run: %v", err)
		}
		if cfg.Rounds < 1 {
			return misuse("--rounds must be at least 1")
		}
		if cfg.Docs != "" && *pattern != "" {
			return misuse("--docs needs a run of everything: leave --run out")
		}
		cfg.JSON = p.json
		return bench.Run(c.Context(), cfg, p.out, p.err)
	}
	return c
}
