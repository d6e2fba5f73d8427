package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// A verdict is the result for one bug.
type verdict string

const (
	caught    verdict = "caught"
	missed    verdict = "missed"
	stale     verdict = "stale"       // the library does not contain its text
	unbuilt   verdict = "no build"    // the library does not compile with it
	outOfTime verdict = "out of time" // no suite caught it, and one did not end
	untried   verdict = "not tried"   // none of the chosen suites can catch it
)

// A result is the outcome of the hunt for one bug.
type result struct {
	Name    string   `json:"name"`
	What    string   `json:"what"`
	Breaks  []string `json:"breaks"`
	Verdict verdict  `json:"verdict"`
	Suite   string   `json:"suite,omitempty"` // the suite that caught it
	Test    string   `json:"test,omitempty"`
	Short   bool     `json:"short"`   // the suite is part of the short proof
	After   float64  `json:"after"`   // how many seconds the failing run took
	Seconds float64  `json:"seconds"` // how many seconds the whole hunt took, builds included
	Problem string   `json:"problem,omitempty"`

	output string // the output of the run that caught it
}

// A hunter looks for bugs in a tree.
type hunter struct {
	root       string // the root of the tree
	dir        string // the folder for binaries and overlays
	suites     []*suite
	likelyOnly bool
	limit      time.Duration // for one run
	say        func(format string, args ...any)

	clean map[trial]error // the results of runs without a bug
}

// hunt plants a bug and tries the suites until one fails. It returns an error if the suites cannot
// judge the bug: one fails, or does not end, without any bug.
func (h *hunter) hunt(ctx context.Context, b bug) (result, error) {
	began := time.Now()
	r := result{Name: b.name, What: b.what, Breaks: b.breaks, Verdict: missed}
	err := h.try(ctx, b, &r)
	r.Seconds = time.Since(began).Seconds()
	return r, err
}

func (h *hunter) try(ctx context.Context, b bug, r *result) error {
	overlay, err := plant(b, h.root, h.dir)
	if err != nil {
		r.Verdict, r.Problem = stale, err.Error()
		if !errors.Is(err, errStale) {
			return err
		}
		return nil
	}
	list := trials(b, h.suites, h.root, h.likelyOnly, h.limit)
	if len(list) == 0 {
		r.Verdict, r.Problem = untried, "none of the chosen suites is likely to catch it"
	}
	built := make(map[string]string)
	for _, t := range list {
		if err := h.trust(ctx, t); err != nil {
			return err
		}
		binary, ok := built[t.suite.name]
		if !ok {
			binary = filepath.Join(h.dir, t.suite.name+".bug.test")
			if err := build(ctx, t.suite, h.root, overlay, binary); err != nil {
				r.Verdict, r.Problem = unbuilt, err.Error()
				return ctx.Err()
			}
			built[t.suite.name] = binary
		}
		found := run(ctx, t, h.root, binary)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch found.outcome {
		case failed:
			r.Verdict, r.Suite, r.Test, r.Short, r.Problem = caught, t.suite.name, found.test, t.suite.short, ""
			r.After, r.output = found.took.Seconds(), found.output
			return nil
		case timedOut:
			r.Verdict, r.Problem = outOfTime, fmt.Sprintf("%s did not end within %v", t.suite.name, t.limit)
		case unbuildable:
			r.Verdict, r.Problem = unbuilt, found.output
			return nil
		}
	}
	return nil
}

// trust runs a trial once without any bug. Its failures count only if this run passes.
func (h *hunter) trust(ctx context.Context, t trial) error {
	if err, done := h.clean[t]; done {
		return err
	}
	h.clean[t] = h.runClean(ctx, t)
	return h.clean[t]
}

func (h *hunter) runClean(ctx context.Context, t trial) error {
	binary := filepath.Join(h.dir, t.suite.name+".test")
	if err := build(ctx, t.suite, h.root, "", binary); err != nil {
		return fmt.Errorf("without any bug: %w", err)
	}
	found := run(ctx, t, h.root, binary)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case found.outcome == timedOut:
		return fmt.Errorf("without any bug, %s did not end within %v:\n%s", t.suite.name, t.limit, tail(found.output))
	case found.outcome != passed:
		return fmt.Errorf("without any bug, %s fails: %s\n%s", t.suite.name, found.test, tail(found.output))
	}
	h.say("without a bug, %s %s passes (%.1fs)", t.suite.name, t.tests, found.took.Seconds())
	return nil
}

// tail returns the end of an output, which contains the failure.
func tail(output string) string {
	const most = 4000
	if len(output) > most {
		return "... " + output[len(output)-most:]
	}
	return output
}
