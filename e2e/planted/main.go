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
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// A command holds the arguments of the command line.
type command struct {
	root, bugs string
	names      *regexp.Regexp
	kind       string // which suites: short, tests or all
	likelyOnly bool
	limit      time.Duration // for one run of a suite
	json       string        // the file for the results
	figures    string        // the folder for the figures
	verbose    bool
	suites     []*suite
}

// errNotCaught says that the suites missed a bug.
var errNotCaught = errors.New("the suites did not catch every bug")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := start(ctx, os.Args[1:], os.Stdout)
	switch {
	case errors.Is(err, errNotCaught):
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "planted:", err)
		os.Exit(2)
	}
}

func start(ctx context.Context, args []string, out io.Writer) error {
	c := command{suites: allSuites(), figures: os.Getenv("PROOF_FIGURES_DIR")}
	flags := flag.NewFlagSet("planted", flag.ContinueOnError)
	flags.StringVar(&c.kind, "suite", "all", "run these suites: the short proof (short), the library's own tests (tests), or all")
	flags.BoolVar(&c.likelyOnly, "fast", false, "run only the tests that are likely to catch each bug")
	flags.DurationVar(&c.limit, "timeout", 5*time.Minute, "stop each run of a suite after this time")
	flags.StringVar(&c.json, "json", "", "write the results to this file")
	flags.BoolVar(&c.verbose, "v", false, "print the output of each run that caught a bug")
	names := flags.String("run", "", "try only bugs whose names match this regular expression")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: choose bugs with -run", flags.Arg(0))
	}
	var err error
	if c.names, err = regexp.Compile(*names); err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	if c.root, err = root(ctx); err != nil {
		return err
	}
	c.bugs = filepath.Join(c.root, "e2e", "planted", "bugs")
	return c.run(ctx, out)
}

// root returns the folder of the library's module, to which the proof's module points.
func root(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/dynamolease/dynamolease").Output()
	if err != nil {
		return "", fmt.Errorf("find the library (run this in the folder e2e): %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// run hunts the bugs one after the other, and prints the result of each.
func (c command) run(ctx context.Context, out io.Writer) error {
	bugs, err := readBugs(c.bugs, c.names)
	if err != nil {
		return err
	}
	h, err := c.hunter(ctx, out)
	if err != nil {
		return err
	}
	defer os.RemoveAll(h.dir)
	var results []result
	for _, b := range bugs {
		r, err := h.hunt(ctx, b)
		if err != nil {
			return err
		}
		results = append(results, r)
		fmt.Fprintln(out, r)
		if c.verbose && r.Verdict == caught {
			fmt.Fprintln(out, tail(r.output))
		}
	}
	f := figuresOf(results)
	fmt.Fprintf(out, "%d bugs; the suites caught %d, the short proof %d of them\n", f.Bugs, f.Caught, f.CaughtByShort)
	if err := save(results, c.json, c.figures); err != nil {
		return err
	}
	if f.Caught < f.Bugs {
		return errNotCaught
	}
	return nil
}

func (c command) hunter(ctx context.Context, out io.Writer) (*hunter, error) {
	suites, err := choose(c.suites, c.kind, c.root)
	if err != nil {
		return nil, err
	}
	for _, s := range suites {
		if err := s.load(ctx, c.root); err != nil {
			return nil, err
		}
	}
	dir, err := os.MkdirTemp("", "planted")
	if err != nil {
		return nil, fmt.Errorf("make a folder for binaries: %w", err)
	}
	return &hunter{
		root: c.root, dir: dir, suites: suites, likelyOnly: c.likelyOnly, limit: c.limit, clean: make(map[trial]error),
		say: func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) },
	}, nil
}
