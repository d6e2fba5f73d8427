// Command bench measures what the library costs; see package bench.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/dynamolease/dynamolease/tools/internal/bench"
	"github.com/dynamolease/dynamolease/tools/internal/program"
)

const about = `Measures what the library costs, in one run of some twenty minutes: each operation beside bare SDK calls that send
the same requests; one round of fleets that keep 10 to 10,000 leases, in sessions and by other ways, with what is
billed for a month; how long partitions are not worked when a node stops or crashes; what comes of many requests that hinder each
other; what it takes to start, to change and to deploy a fleet; how fast dead rows are deleted; and how long a plan takes.

The database is a DynamoDB-compatible server that bench starts and ends. To use one that is running, set
DYNAMODB_ENDPOINT to its URL; bench makes a table of its own there and deletes it.`

func main() { program.Main("bench", run) }

func run(ctx context.Context, args []string, out, errs io.Writer) error {
	cfg, timeout, err := parse(args, out)
	if err != nil {
		return err
	}
	if timeout > 0 {
		late := fmt.Errorf("it took longer than --timeout allows (%v)", timeout)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, late)
		defer cancel()
	}
	err = bench.Run(ctx, cfg, out, errs)
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

func parse(args []string, out io.Writer) (cfg bench.Config, timeout time.Duration, err error) {
	flags := program.Flags("bench", about, out)
	flags.IntVar(&cfg.Rounds, "rounds", 100, "how many times the sides of a row take turns")
	flags.DurationVar(&cfg.Limit, "limit", 3*time.Second, "how long a row may take; it then has fewer rounds")
	pattern := flags.String("run", "", "measure only what matches this regular `EXPRESSION`")
	flags.DurationVar(&timeout, "timeout", 0, "when to give up (default no limit)")
	flags.BoolVar(&cfg.Matrix, "matrix", false,
		"measure the changes of fleets of 10, 50 and 100 nodes with 1000 and 10000 partitions at a ttl of 10 s and of 30 s, not of the usual two: it takes hours")
	flags.BoolVar(&cfg.JSON, "json", false, "print one JSON document")
	flags.StringVar(&cfg.Docs, "docs", "",
		"write the tables into cost.md of this `DIRECTORY`, and cost.json and plots beside it")
	if err := program.Parse(flags, args); err != nil {
		return cfg, 0, err
	}
	if cfg.Match, err = regexp.Compile(*pattern); err != nil {
		return cfg, 0, program.Misused("--run: %v", err)
	}
	switch {
	case cfg.Rounds < 1:
		err = program.Misused("--rounds must be at least 1")
	case cfg.Limit <= 0:
		err = program.Misused("--limit must be more than 0")
	case flags.Changed("timeout") && timeout <= 0:
		err = program.Misused("--timeout must be more than 0; leave it out for no limit")
	case cfg.Docs != "" && *pattern != "":
		err = program.Misused("--docs needs a run of everything: leave --run out")
	case cfg.Docs != "":
		if _, problem := os.Stat(filepath.Join(cfg.Docs, "cost.md")); problem != nil {
			err = program.Misused("--docs must be a directory with a cost.md, such as docs: %v", problem)
		}
	}
	return cfg, timeout, err
}
