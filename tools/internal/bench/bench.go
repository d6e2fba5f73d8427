// Package bench measures in one run what the library costs beside bare SDK calls. It compares each
// operation with calls that send the same requests, and the rounds of whole fleets with the ways of
// other libraries. It adds up what is billed, and measures how long partitions are not worked when
// a node goes, what the changes of fleets cost, how fast dead rows are deleted, and how long a plan
// takes.
//
// Both sides take turns in small blocks and are compared round by round, so that other load on the
// machine meets both alike. Nothing asserts timings. A run fails if the two sides send different
// requests: the comparison then means nothing, and bare.go must follow the library.
//
// It uses the database of the tests; see dynamotest.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"
)

// Config configures a run.
type Config struct {
	Rounds int            // turns that the sides of a row take; at least 1
	Limit  time.Duration  // bounds a row, which then has fewer rounds
	Match  *regexp.Regexp // selects rows by their names
	Matrix bool           // measure the changes of fleets of all sizes, in place of the usual ones
	JSON   bool           // print the results as JSON
	Docs   string         // the directory with cost.md, cost.json and plots to write; "" for none
}

// Run measures, prints the results to out, and its progress to progress. It returns an error if the
// database fails, if the sides send different requests, or if it measures nothing.
func Run(ctx context.Context, cfg Config, out, progress io.Writer) (err error) {
	l, err := newLab(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	b := &bench{
		lab: l, rounds: cfg.Rounds, limit: cfg.Limit, leases: thousand, rows: reapRows, fleets: fleetSizes, drill: l.drill(),
		crowd: crowded, change: changed, changes: usualChanges, plan: planSizes, match: cfg.Match, progress: progress,
	}
	if cfg.Matrix {
		b.changes = allChanges()
	}
	r, err := b.run(ctx)
	if err != nil {
		return err
	}
	write := r.print
	if cfg.JSON {
		write = r.encode
	}
	if err := write(out); err != nil {
		return fmt.Errorf("print the results: %w", err)
	}
	if cfg.Docs != "" {
		if err := r.publish(cfg.Docs); err != nil {
			return fmt.Errorf("write the documents: %w", err)
		}
	}
	return nil
}

// A bench is one run.
type bench struct {
	lab      *lab
	rounds   int
	limit    time.Duration
	leases   int // of the rows on many renewals; fewer in a test
	rows     int // of the tables to clean; fewer in a test
	fleets   []int
	drill    drill
	crowd    func(context.Context) (*crowdReport, error)
	change   func(context.Context, changesSpec) ([]changeRow, error)
	changes  []changesSpec
	plan     func(context.Context) ([]planRow, error)
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
	if err := b.whole(ctx, r); err != nil {
		return nil, err
	}
	if len(r.tables()) == 0 {
		return nil, fmt.Errorf("nothing of what was asked for (%v) could be measured", b.match)
	}
	return r, nil
}

// whole measures whole fleets.
func (b *bench) whole(ctx context.Context, r *report) error {
	for _, leases := range b.fleets {
		name := fmt.Sprintf("Round of %d leases", leases)
		if !b.wants(name) {
			continue
		}
		rows, err := b.fleet(ctx, leases)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		r.Rounds = append(r.Rounds, rows...)
	}
	if b.wants(takeoverName) {
		rows, err := b.takeovers(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", takeoverName, err)
		}
		r.Takeovers = rows
	}
	if b.wants(crowdName) {
		var err error
		if r.Crowd, err = b.crowd(ctx); err != nil { // an installed program does not have the source
			fmt.Fprintf(b.progress, "%s is not measured: %v\n", crowdName, err)
		}
	}
	for _, c := range b.changes {
		if !b.wants(c.name()) {
			continue
		}
		rows, err := b.change(ctx, c)
		if err != nil { // an installed program does not have the source
			fmt.Fprintf(b.progress, "%s are not measured: %v\n", c.name(), err)
		}
		r.Changes = append(r.Changes, rows...)
	}
	if b.wants(planName) {
		rows, err := b.plan(ctx)
		if err != nil { // an installed program does not have the source
			fmt.Fprintf(b.progress, "%s is not measured: %v\n", planName, err)
		}
		r.Plans = rows
	}
	return ctx.Err()
}

// wants reports whether a row was asked for, and announces it: a run takes minutes.
func (b *bench) wants(name string) bool {
	if !b.match.MatchString(name) {
		return false
	}
	fmt.Fprintln(b.progress, "measuring", name)
	return true
}
