package main

import (
	"context"
	"io"
	"log/slog"
	"os"

	"github.com/dynamolease/dynamolease/internal/demo"
)

const demoWorkerHelp = `A worker of the demo, which starts it. It ends when its standard input does.
`

// workerCommand is how the demo starts a worker: this program itself, with the flags of runDemoWorker.
func workerCommand(cfg demo.WorkerConfig) ([]string, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return []string{
		program, "demo-worker", "-name", cfg.Name, "-table", cfg.Table, "-input", cfg.Input, "-record", cfg.Record,
		"-ttl", cfg.TTL.String(), "-pace", cfg.Pace.String(),
	}, nil
}

func runDemoWorker(ctx context.Context, args []string, _, stderr io.Writer) error {
	var cfg demo.WorkerConfig
	flags := newFlags("demo-worker", demoWorkerHelp, stderr)
	flags.StringVar(&cfg.Name, "name", "", "the `name` of this process")
	flags.StringVar(&cfg.Table, "table", "", "the `table` of the leases")
	flags.StringVar(&cfg.Input, "input", "", "the `directory` to count")
	flags.StringVar(&cfg.Record, "record", "", "the `file` to record events in")
	flags.DurationVar(&cfg.TTL, "ttl", 0, "the `time` that a lease lasts without renewal")
	flags.DurationVar(&cfg.Pace, "pace", 0, "the least `time` to spend on a file")
	if err := parse(flags, args); err != nil {
		return err
	}
	ctx, cancel := demo.Lifeline(ctx, os.Stdin)
	defer cancel()
	return demo.Work(ctx, cfg, slog.New(slog.NewTextHandler(stderr, nil)))
}
