package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	err := start(context.Background(), os.Args[1:], os.Stdout)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func start(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("promises", flag.ContinueOnError)
	short := flags.Bool("short", false, "print only how many tests each promise has")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	root, err := root(ctx)
	if err != nil {
		return err
	}
	c, err := cover(root)
	if err != nil {
		return err
	}
	c.print(out, *short)
	return c.problem()
}

// root returns the folder of the library's module, to which the proof's module points.
func root(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/dynamolease/dynamolease").Output()
	if err != nil {
		return "", fmt.Errorf("find the library (run this in the folder e2e): %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// cover finds the tests of all promises in a tree.
func cover(root string) (coverage, error) {
	promises, err := readPromises(filepath.Join(root, "docs", "promises.md"))
	if err != nil {
		return coverage{}, err
	}
	tests, err := readNames(root)
	return match(promises, tests), err
}

func (c coverage) print(out io.Writer, short bool) {
	for _, p := range c.promises {
		tests := c.tests[p.number]
		fmt.Fprintf(out, "%-5s %3d  %s\n", p.number, len(tests), p.text)
		if short {
			continue
		}
		for _, t := range tests {
			fmt.Fprintf(out, "            %v\n", t)
		}
	}
	fmt.Fprintf(out, "%d promises\n", len(c.promises))
}
