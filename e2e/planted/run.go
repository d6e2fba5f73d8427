package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// An outcome says how a trial ended.
type outcome int

const (
	passed outcome = iota
	failed
	timedOut
	unbuildable // the test binary could not start
)

// A finding is the result of a trial.
type finding struct {
	outcome outcome
	test    string // the test that failed
	output  string
	took    time.Duration // without the build
}

// withoutWorkspace makes the go command use the module's own go.mod, even if the tree lies in
// another workspace.
const withoutWorkspace = "GOWORK=off"

// buildLimit bounds the build of a test binary on a busy machine.
const buildLimit = 5 * time.Minute

// build builds the test binary of a suite, with an overlay unless that is empty. Nobody debugs it,
// and vet is not a suite.
func build(ctx context.Context, s *suite, root, overlay, binary string) error {
	ctx, cancel := context.WithTimeout(ctx, buildLimit)
	defer cancel()
	args := []string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", binary}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, s.pkg)...)
	cmd.Dir, cmd.Env = filepath.Join(root, s.module), append(os.Environ(), withoutWorkspace)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", s.name, err, out)
	}
	return nil
}

// grace is the time that a test binary gets after its own timeout, to print where it hangs.
const grace = 10 * time.Second

// run runs a trial's test binary until its first failing test, and kills the processes that it
// leaves.
func run(ctx context.Context, t trial, root, binary string) finding {
	limited, cancel := context.WithTimeout(ctx, t.limit+grace)
	defer cancel()
	args := []string{"-test.v", "-test.failfast", "-test.count=1", "-test.timeout=" + t.limit.String()}
	if t.tests != "" {
		args = append(args, "-test.run="+t.tests)
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(limited, binary, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.suite.folder(root), &out, &out
	family := newFamily(cmd)
	cmd.Env = append(cmd.Env, environment(os.Environ())...)
	cmd.Cancel = family.end
	cmd.WaitDelay = grace

	began := time.Now()
	err := cmd.Run() // also an error if a process that it left still has the output open
	_ = family.end()
	found := finding{output: out.String(), took: time.Since(began)}
	switch {
	case cmd.ProcessState == nil:
		found.outcome, found.output = unbuildable, err.Error()
	case cmd.ProcessState.Success():
		found.outcome = passed
	case limited.Err() != nil, strings.Contains(found.output, "panic: test timed out after"):
		found.outcome = timedOut
	default:
		found.outcome, found.test = failed, failingTest(found.output)
	}
	return found
}

// environment returns the environment of test binaries: that of this process without the variables
// of the proof. So the suites use their fixed seeds and write no figures. Tests without a database
// fail instead of skipping.
func environment(own []string) []string {
	kept := slices.DeleteFunc(slices.Clone(own), func(v string) bool {
		return strings.HasPrefix(v, "PROOF_") || strings.HasPrefix(v, "DYNAMODB_REQUIRED=")
	})
	return append(kept, "DYNAMODB_REQUIRED=1")
}

// failingTest returns the name of the first test that failed, with its subtests, from the output of
// a test binary with -test.v.
func failingTest(output string) string {
	var names []string
	running := ""
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "--- FAIL: "); ok {
			name, _, _ = strings.Cut(name, " (")
			names = append(names, name)
		}
		for _, mark := range []string{"=== RUN ", "=== CONT ", "=== NAME "} {
			if name, ok := strings.CutPrefix(line, mark); ok {
				running = strings.TrimSpace(name)
			}
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(names, func(other string) bool { return strings.HasPrefix(other, name+"/") }) {
			return name
		}
	}
	if strings.Contains(output, "panic:") || strings.Contains(output, "fatal error:") {
		return running + " (panic)"
	}
	return "TestMain"
}
