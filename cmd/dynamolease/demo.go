package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/internal/demo"
)

const demoHelp = `Four worker processes count the words of every .go file of a directory, split into 64 partitions by path. A coordinator
gives each worker its share of the partitions, and runs a handler for each. The handler adds its counts to the result
chunk by chunk, each in one transaction with a checkpoint that says where to go on, under the fence of the lease. In the
middle one worker is killed, and another is stopped for longer than the ttl and goes on afterwards. The others take over
what these two had, and go on from the checkpoints. A count by one plain process tells what must come out.

The last line is

  words=N expected=N partitions=64 workers=4 killed=1 paused=1 takeovers=K overlaps=0 resumed=R duplicates=0

  takeovers   how often a worker began with a partition after another's lease on it had run out
  overlaps    how often two workers counted on the lease of one partition at the same time, by their own records
  resumed     how often a worker went on from a checkpoint that another one had left in the middle of a partition
  duplicates  files that went into the results more than once, or not at all

The exit code is 1 if any figure is off.

Counting takes a second or two. So that one can watch, each worker takes its time: --pace says how long for a file at
least.

The database is a DynamoDB-compatible server that the demo starts and ends. To use one that is running, set
DYNAMODB_ENDPOINT to its URL; the demo makes a table of its own there and deletes it.
`

// errOff is returned when the figures of the demo are not as they must be.
var errOff = errors.New("the figures are off")

func (p *program) demo() *cobra.Command {
	c := &cobra.Command{
		Use: "demo", Short: "Four processes share work through leases, and two of them come to grief", Args: takes(), Annotations: withoutTable(), Long: demoHelp,
	}
	cfg := demo.Config{Command: workerCommand, Logger: slog.New(slog.NewTextHandler(p.err, nil))}
	c.Flags().StringVar(&cfg.Input, "input", "", "the `DIRECTORY` to count (default the source of the Go standard library)")
	c.Flags().DurationVar(&cfg.TTL, "ttl", 3*time.Second, "how long a lease lasts without renewal")
	c.Flags().DurationVar(&cfg.Pace, "pace", 80*time.Millisecond, "how long a worker spends on a file at least")
	c.Flags().DurationVar(&cfg.Timeout, "timeout", 2*time.Minute, "after which time the demo gives up")
	bound(c.Flags(), "ttl", fmt.Sprintf("must be at least %v", dynamolease.MinTTL), func() bool { return cfg.TTL >= dynamolease.MinTTL })
	bound(c.Flags(), "pace", "must not be negative", func() bool { return cfg.Pace >= 0 })
	bound(c.Flags(), "timeout", "must be more than 0", func() bool { return cfg.Timeout > 0 })
	plain := c.Flags().Bool("plain", false, "print plain lines also on a terminal")
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		if cfg.Input == "" {
			if cfg.Input, err = goSource(c.Context()); err != nil {
				return err
			}
		}
		cfg.Out = p.out
		if p.json {
			cfg.Out = p.err // stdout is for the one document
		} else if !*plain {
			cfg.Style = styleOf(p.out)
		}
		return p.showVerdict(c.Context(), cfg)
	}
	return c
}

func (p *program) showVerdict(ctx context.Context, cfg demo.Config) error {
	v, err := demo.Run(ctx, cfg)
	if err != nil {
		return err
	}
	if err := p.show(verdict{v}); err != nil {
		return err
	}
	if !v.OK() {
		return errOff
	}
	return nil
}

// A verdict is the figures of the demo as a report.
type verdict struct{ demo.Verdict }

// Text is the details, what is off, and the line of the figures.
func (v verdict) Text() string {
	var b strings.Builder
	fmt.Fprintln(&b, v.Details())
	for _, problem := range v.Problems {
		fmt.Fprintln(&b, "OFF:", problem)
	}
	fmt.Fprintln(&b, v)
	return b.String()
}

// goSource is the directory of the Go standard library's source.
func goSource(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("find the Go standard library (use --input for another directory): %w", err)
	}
	return filepath.Join(string(bytes.TrimSpace(out)), "src"), nil
}

// styleOf is the view for an output: one that moves only on a terminal that can do that.
func styleOf(out io.Writer) demo.Style {
	switch {
	case !canDraw(out):
		return demo.Plain
	case os.Getenv("NO_COLOR") != "":
		return demo.Mono
	default:
		return demo.Color
	}
}
