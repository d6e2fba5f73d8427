package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/term"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/tools/internal/demo"
	"github.com/dynamolease/dynamolease/tools/internal/program"
)

const about = `Four worker processes count the words of every .go file of a directory, split into 64 partitions by path. A
coordinator gives each worker its share of the partitions, and runs a handler for each. The handler adds its counts to
the result chunk by chunk, each in one transaction with a checkpoint that says where to go on, under the fence of the
lease. In the middle one worker is killed, and another is stopped for longer than the ttl and goes on afterwards. The
others take over what these two had, and go on from the checkpoints. A count by one plain process tells what must come
out.

The last line is

  words=N expected=N partitions=64 workers=4 killed=1 paused=1 takeovers=K overlaps=0 resumed=R duplicates=0

  takeovers   how often a worker began with a partition after another's lease on it had run out
  overlaps    how often two workers counted on the lease of one partition at the same time, by their own records
  resumed     how often a worker went on from a checkpoint that another one had left in the middle of a partition
  duplicates  files that went into the results more than once, or not at all

The exit code is 1 if any figure is off.

Counting takes a second or two. To let you watch, each worker takes its time: --pace says how long for a file at least.

The database is a DynamoDB-compatible server that the demo starts and ends. To use one that is running, set
DYNAMODB_ENDPOINT to its URL; the demo makes a table of its own there and deletes it.`

func parse(ctx context.Context, args []string, out, errs io.Writer) (cfg demo.Config, json bool, err error) {
	cfg = demo.Config{Command: workerCommand, Out: out, Logger: slog.New(slog.NewTextHandler(errs, nil))}
	flags := program.Flags("demo", about, out)
	flags.StringVar(&cfg.Input, "input", "", "the `DIRECTORY` to count (default the source of the Go standard library)")
	flags.DurationVar(&cfg.TTL, "ttl", 3*time.Second, "how long a lease lasts without renewal")
	flags.DurationVar(&cfg.Pace, "pace", 80*time.Millisecond, "how long a worker spends on a file at least")
	flags.DurationVar(&cfg.Timeout, "timeout", 2*time.Minute, "when to give up")
	flags.BoolVar(&json, "json", false, "print one JSON document; the progress goes to stderr")
	plain := flags.Bool("plain", false, "print plain lines also on a terminal")
	if err := program.Parse(flags, args); err != nil {
		return cfg, json, err
	}
	switch {
	case cfg.TTL < dynamolease.MinTTL:
		return cfg, json, program.Misused("--ttl must be at least %v", dynamolease.MinTTL)
	case cfg.Pace < 0:
		return cfg, json, program.Misused("--pace must not be negative")
	case cfg.Timeout <= 0:
		return cfg, json, program.Misused("--timeout must be more than 0")
	}
	if cfg.Input == "" {
		if cfg.Input, err = goSource(ctx); err != nil {
			return cfg, json, err
		}
	}
	if json {
		cfg.Out = errs // stdout is for the document
	} else if !*plain {
		cfg.Style = styleOf(out)
	}
	return cfg, json, nil
}

// goSource returns the directory of the Go standard library's source.
func goSource(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("find the Go standard library (use --input for another directory): %w", err)
	}
	return filepath.Join(string(bytes.TrimSpace(out)), "src"), nil
}

// styleOf returns the view for an output: one that moves if it is a terminal that can do that.
func styleOf(out io.Writer) demo.Style {
	f, ok := out.(*os.File)
	kind := os.Getenv("TERM")
	switch {
	case !ok || kind == "" || kind == "dumb" || !term.IsTerminal(int(f.Fd())):
		return demo.Plain
	case os.Getenv("NO_COLOR") != "":
		return demo.Mono
	default:
		return demo.Color
	}
}
