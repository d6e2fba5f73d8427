// Command bench measures each operation of a Store beside bare SDK calls that send the same requests, in one run: what
// the library adds in time and in allocations. It says what many renewals cost, and what each call is billed as.
//
// Usage:
//
//	go run ./internal/bench [-rounds N] [-limit DURATION] [-run REGEXP] [-json FILE]
//
// Both sides take turns in small blocks and are compared round by round, so that whatever else the machine does meets
// both alike. Timings are printed and never asserted. That both sides sent the same requests is asserted, and an error
// otherwise: then the comparison means nothing, and bare.go must follow what the library sends now.
//
// It uses the database that the tests use; see dynamotest.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, progress io.Writer) (err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(progress)
	rounds := flags.Int("rounds", 100, "how many times the sides of a row take turns")
	limit := flags.Duration("limit", 3*time.Second, "how long a row may take; it then has fewer rounds")
	pattern := flags.String("run", "", "measure only what matches this regular `expression`")
	file := flags.String("json", "", "write the results to this `file` too")
	if err := flags.Parse(args); err != nil {
		return err
	}
	match, err := regexp.Compile(*pattern)
	if err != nil {
		return fmt.Errorf("parse -run: %w", err)
	}
	if *rounds < 1 {
		return fmt.Errorf("parse -rounds: %d rounds measure nothing", *rounds)
	}

	l, err := newLab(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	b := &bench{lab: l, rounds: *rounds, limit: *limit, leases: thousand, rows: reapRows, match: match, progress: progress}
	r, err := b.run(ctx)
	if err != nil {
		return err
	}
	if err := r.print(out); err != nil {
		return fmt.Errorf("print the results: %w", err)
	}
	if *file == "" {
		return nil
	}
	return writeJSON(*file, r)
}

// A bench is one run.
type bench struct {
	lab      *lab
	rounds   int
	limit    time.Duration
	leases   int // that the rows on many renewals are of; fewer in a test
	rows     int // of the tables that are cleaned; fewer in a test
	match    *regexp.Regexp
	progress io.Writer
}

func (b *bench) run(ctx context.Context) (*report, error) {
	r := new(report)
	for _, o := range operations {
		if !b.wants(o.name) {
			continue
		}
		row, bill, err := b.operation(ctx, o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.name, err)
		}
		r.Operations = append(r.Operations, row)
		r.Bills = append(r.Bills, bill)
	}
	for _, m := range renewals {
		if !b.wants(m.name()) {
			continue
		}
		row, err := b.renewal(ctx, m)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name(), err)
		}
		r.Renewals = append(r.Renewals, row)
	}
	if b.wants(reapName) {
		row, err := b.reaping(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", reapName, err)
		}
		r.Reaping = &row
	}
	if len(r.Operations)+len(r.Renewals) == 0 && r.Reaping == nil {
		return nil, fmt.Errorf("-run %v matches no row", b.match)
	}
	return r, nil
}

// wants tells whether a row was asked for, and says that it is on its way: a run takes the better part of a minute.
func (b *bench) wants(name string) bool {
	if !b.match.MatchString(name) {
		return false
	}
	fmt.Fprintln(b.progress, "measuring", name)
	return true
}

func writeJSON(file string, r *report) error {
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return fmt.Errorf("encode the results: %w", err)
	}
	if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	return nil
}
