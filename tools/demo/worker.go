package main

import (
	"context"
	"io"
	"log/slog"
	"os"

	"github.com/dynamolease/dynamolease/tools/internal/demo"
	"github.com/dynamolease/dynamolease/tools/internal/program"
)

// workerArgument makes this program a worker. Only the demo itself gives it.
const workerArgument = "worker"

// workerCommand returns the command with which the demo starts a worker: this program, with the
// flags that work reads.
func workerCommand(cfg demo.WorkerConfig) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return []string{
		self, workerArgument, "--name", cfg.Name, "--table", cfg.Table, "--input", cfg.Input, "--record", cfg.Record,
		"--ttl", cfg.TTL.String(), "--pace", cfg.Pace.String(),
	}, nil
}

// work runs a worker until its standard input ends.
func work(ctx context.Context, args []string, errs io.Writer) error {
	var cfg demo.WorkerConfig
	flags := program.Flags("demo "+workerArgument, "A worker of the demo, which starts it.", errs)
	flags.StringVar(&cfg.Name, "name", "", "the name of this process")
	flags.StringVar(&cfg.Table, "table", "", "the table of the leases and results")
	flags.StringVar(&cfg.Input, "input", "", "the directory to count")
	flags.StringVar(&cfg.Record, "record", "", "the file to record events in")
	flags.DurationVar(&cfg.TTL, "ttl", 0, "how long a lease lasts without renewal")
	flags.DurationVar(&cfg.Pace, "pace", 0, "how long to spend on a file at least")
	if err := program.Parse(flags, args); err != nil {
		return err
	}
	ctx, cancel := demo.Lifeline(ctx, os.Stdin)
	defer cancel()
	return demo.Work(ctx, cfg, slog.New(slog.NewTextHandler(errs, nil)))
}
