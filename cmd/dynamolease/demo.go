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

Counting takes a second or two. So that one can watch, each worker takes its time: -pace says how long for a file at
least.

The database is a DynamoDB-compatible server that the demo starts and ends. To use one that is running, set
DYNAMODB_ENDPOINT to its URL; the demo makes a table of its own there and deletes it.
`

// errOff is returned when the figures of the demo are not as they must be.
var errOff = errors.New("the figures are off")

func runDemo(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	cfg := demo.Config{Command: workerCommand, Out: stdout, Logger: slog.New(slog.NewTextHandler(stderr, nil))}
	flags := newFlags("demo", demoHelp, stderr)
	flags.StringVar(&cfg.Input, "input", "", "the `directory` to count (default the source of the Go standard library)")
	flags.DurationVar(&cfg.TTL, "ttl", 3*time.Second, "the `time` that a lease lasts without renewal")
	flags.DurationVar(&cfg.Pace, "pace", 80*time.Millisecond, "the least `time` that a worker spends on a file")
	flags.DurationVar(&cfg.Timeout, "timeout", 2*time.Minute, "the `time` after which the demo gives up")
	plain := flags.Bool("plain", false, "print plain lines also on a terminal")
	if err := parse(flags, args); err != nil {
		return err
	}
	switch {
	case cfg.TTL < dynamolease.MinTTL:
		return misuse(flags, "-ttl must be at least %v", dynamolease.MinTTL)
	case cfg.Pace < 0:
		return misuse(flags, "-pace must not be negative")
	}
	if cfg.Input == "" {
		var err error
		if cfg.Input, err = goSource(ctx); err != nil {
			return err
		}
	}
	if !*plain {
		cfg.Style = styleOf(stdout)
	}
	return showVerdict(ctx, cfg, stdout)
}

func showVerdict(ctx context.Context, cfg demo.Config, stdout io.Writer) error {
	v, err := demo.Run(ctx, cfg)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintln(&b, v.Details())
	for _, problem := range v.Problems {
		fmt.Fprintln(&b, "OFF:", problem)
	}
	fmt.Fprintln(&b, v)
	if _, err := io.WriteString(stdout, b.String()); err != nil {
		return err
	}
	if !v.OK() {
		return errOff
	}
	return nil
}

// goSource is the directory of the Go standard library's source.
func goSource(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("find the Go standard library (use -input for another directory): %w", err)
	}
	return filepath.Join(string(bytes.TrimSpace(out)), "src"), nil
}

// styleOf is the view for an output: one that moves only on a terminal that can do that.
func styleOf(out io.Writer) demo.Style {
	f, ok := out.(*os.File)
	if !ok {
		return demo.Plain
	}
	info, err := f.Stat()
	term := os.Getenv("TERM")
	switch {
	case err != nil || info.Mode()&os.ModeCharDevice == 0 || term == "" || term == "dumb":
		return demo.Plain
	case os.Getenv("NO_COLOR") != "":
		return demo.Mono
	default:
		return demo.Color
	}
}
