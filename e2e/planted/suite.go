package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A suite is the tests of one package.
type suite struct {
	name   string
	short  bool   // it belongs to the short proof; the others are the library's own tests
	module string // the folder of the module, relative to the root of the tree
	pkg    string // the folder of the package, relative to the module

	reads map[string]bool // the folders from which it is built; nil before load
}

// allSuites returns the suites in the order in which the command tries them.
func allSuites() []*suite {
	return []*suite{
		{name: "history", short: true, module: "e2e", pkg: "./history"},
		{name: "fleet", short: true, module: "e2e", pkg: "./fleet"},
		{name: "chaos", short: true, module: "e2e", pkg: "./chaos"},
		{name: "request", module: ".", pkg: "./internal/request"},
		{name: "storeclock", module: ".", pkg: "./internal/storeclock"},
		{name: "elapsed", module: ".", pkg: "./internal/elapsed"},
		{name: "processlease", module: ".", pkg: "./dynamolease/processlease"},
		{name: "dynamolease", module: ".", pkg: "./dynamolease"},
		{name: "plan", module: ".", pkg: "./dynamolease/coordinator/internal/plan"},
		{name: "coordinator", module: ".", pkg: "./dynamolease/coordinator"},
	}
}

// choose returns the suites of one kind, "short", "tests" or "all", that exist in the tree.
func choose(suites []*suite, kind, root string) ([]*suite, error) {
	if kind != "short" && kind != "tests" && kind != "all" {
		return nil, fmt.Errorf("-suite must be short, tests or all, not %q", kind)
	}
	chosen := slices.DeleteFunc(slices.Clone(suites), func(s *suite) bool {
		_, err := os.Stat(s.folder(root))
		return err != nil || kind == "short" && !s.short || kind == "tests" && s.short
	})
	if len(chosen) == 0 {
		return nil, fmt.Errorf("%s contains none of the suites", root)
	}
	return chosen, nil
}

// folder returns the folder of the suite's tests, in which they run.
func (s *suite) folder(root string) string { return filepath.Join(root, s.module, s.pkg) }

// load finds the folders from which the suite is built. The suite cannot catch a bug elsewhere.
func (s *suite) load(ctx context.Context, root string) error {
	list := exec.CommandContext(ctx, "go", "list", "-test", "-deps", "-f", "{{if not .Standard}}{{.Dir}}{{end}}", s.pkg)
	list.Dir, list.Env = filepath.Join(root, s.module), append(os.Environ(), withoutWorkspace)
	var problem strings.Builder
	list.Stderr = &problem
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("list the packages of %s: %w\n%s", s.name, err, problem.String())
	}
	s.reads = make(map[string]bool)
	for line := range strings.Lines(string(out)) {
		s.reads[strings.TrimSpace(line)] = true
	}
	return nil
}

// concerns reports whether the suite is built from a file that the bug changes.
func (s *suite) concerns(b bug, root string) bool {
	return slices.ContainsFunc(b.files(), func(file string) bool {
		return s.reads[filepath.Dir(filepath.Join(root, filepath.FromSlash(file)))]
	})
}

// A trial is a run of a suite, or of some of its tests, against a bug.
type trial struct {
	suite *suite
	tests string
	limit time.Duration
}

// trials returns the trials for a bug, in order: first the tests that are likely to catch it, then,
// unless likelyOnly, every other suite that is built from the changed files.
func trials(b bug, suites []*suite, root string, likelyOnly bool, limit time.Duration) []trial {
	var list []trial
	for _, c := range b.catch {
		if i := slices.IndexFunc(suites, func(s *suite) bool { return s.name == c.suite }); i >= 0 {
			list = append(list, trial{suites[i], c.tests, limit})
		}
	}
	if likelyOnly {
		return list
	}
	for _, s := range suites {
		if whole := (trial{s, "", limit}); s.concerns(b, root) && !slices.Contains(list, whole) {
			list = append(list, whole)
		}
	}
	return list
}
