package main

import (
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/dynamolease/dynamolease/internal/demo"
)

// workerCommand is how the demo starts a worker: this program itself, with the flags of demoWorker.
func workerCommand(cfg demo.WorkerConfig) ([]string, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return []string{
		program, "demo-worker", "--name", cfg.Name, "--table", cfg.Table, "--input", cfg.Input, "--record", cfg.Record,
		"--ttl", cfg.TTL.String(), "--pace", cfg.Pace.String(),
	}, nil
}

func (p *program) demoWorker() *cobra.Command {
	c := &cobra.Command{
		Use: "demo-worker", Hidden: true, Args: takes(), Long: "A worker of the demo, which starts it. It ends when its standard input does.",
	}
	var cfg demo.WorkerConfig
	c.Flags().StringVar(&cfg.Name, "name", "", "the name of this process")
	c.Flags().StringVar(&cfg.Input, "input", "", "the directory to count")
	c.Flags().StringVar(&cfg.Record, "record", "", "the file to record events in")
	c.Flags().DurationVar(&cfg.TTL, "ttl", 0, "how long a lease lasts without renewal")
	c.Flags().DurationVar(&cfg.Pace, "pace", 0, "how long to spend on a file at least")
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg.Table = p.table
		ctx, cancel := demo.Lifeline(c.Context(), os.Stdin)
		defer cancel()
		return demo.Work(ctx, cfg, slog.New(slog.NewTextHandler(p.err, nil)))
	}
	return c
}
