package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "proof:", err)
		os.Exit(1)
	}
}

// settings holds the flags of the command line, and the seed.
type settings struct {
	long, planted, aws bool
	seed               string // for all suites; if empty, each uses its fixed seed
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	var s settings
	flags := flag.NewFlagSet("proof", flag.ContinueOnError)
	flags.SetOutput(progress)
	flags.BoolVar(&s.long, "long", false, "make the long run, with seeds from the clock")
	flags.BoolVar(&s.planted, "planted", false, "also plant bugs; the suites must catch each")
	flags.BoolVar(&s.aws, "aws", false, "run only the histories, against DynamoDB itself")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	s.seed = seedOf(s, os.Getenv, time.Now())
	return s.prove(ctx, s.suites(), out, progress)
}

// seedOf returns the seed from which all suites begin: PROOF_SEED, or in the long run the time of
// the clock. The command chooses it, so that the record has it even if a suite ends before it
// prints its seed.
func seedOf(s settings, env func(string) string, now time.Time) string {
	if seed := env("PROOF_SEED"); seed != "" || !s.long {
		return seed
	}
	return strconv.FormatInt(now.UnixNano(), 10)
}

// prove runs suites and prints the table. If a suite fails, the error names the file with
// everything that they printed.
func (s settings) prove(ctx context.Context, suites []suite, out, progress io.Writer) error {
	dir, err := os.MkdirTemp("", "dynamolease-proof-")
	if err != nil {
		return fmt.Errorf("make a folder for the figures: %w", err)
	}
	defer os.RemoveAll(dir)
	kept, err := newRecord(s, time.Now())
	if err != nil {
		return err
	}
	begun := time.Now()
	failed, err := s.runSuites(ctx, suites, dir, io.MultiWriter(progress, kept.file))
	if tableErr := printTable(io.MultiWriter(out, kept.file), dir, time.Since(begun), failed); tableErr != nil {
		err = errors.Join(err, tableErr)
	}
	return kept.close(err)
}

// runSuites runs all suites. It goes on after one fails, so that the table has the figures of each.
// It returns the names of the suites that failed.
func (s settings) runSuites(ctx context.Context, suites []suite, dir string, progress io.Writer) (failed []string, err error) {
	var errs []error
	for _, suite := range suites {
		if ctx.Err() != nil {
			return failed, errors.Join(append(errs, context.Cause(ctx))...)
		}
		fmt.Fprintln(progress, "running", suite.name)
		if err := suite.run(ctx, s, dir, progress); err != nil {
			failed = append(failed, suite.name)
			errs = append(errs, fmt.Errorf("%s: %w", suite.name, err))
			fmt.Fprintf(progress, "%s: %v\n", suite.name, err)
		}
	}
	return failed, errors.Join(errs...)
}

// A suite is a command of the go tool.
type suite struct {
	name string
	args []string
}

func (s settings) suites() []suite {
	test := func(name string) suite {
		return suite{name, []string{"test", "-count=1", "-timeout=30m", "./" + name}}
	}
	if s.aws {
		return []suite{test("history")}
	}
	suites := []suite{test("history"), test("fleet"), test("chaos")}
	if s.planted {
		suites = append(suites, suite{"planted", []string{"run", "./planted", "-fast"}})
	}
	return suites
}

func (u suite) run(ctx context.Context, s settings, dir string, progress io.Writer) error {
	cmd := exec.CommandContext(ctx, "go", u.args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Stdout, cmd.Stderr = progress, progress
	cmd.Env = append(os.Environ(), "PROOF_FIGURES_DIR="+dir, "DYNAMODB_REQUIRED=1")
	if s.long {
		cmd.Env = append(cmd.Env, "PROOF_LONG=1")
	}
	if s.seed != "" {
		cmd.Env = append(cmd.Env, "PROOF_SEED="+s.seed)
	}
	if s.aws {
		cmd.Env = append(cmd.Env, "DYNAMOLEASE_TEST_AWS=1")
	}
	return cmd.Run()
}
