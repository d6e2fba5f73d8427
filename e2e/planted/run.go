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

// An outcome is what became of a trial.
type outcome int

const (
	passed outcome = iota
	failed
	timedOut
	unbuildable // it could not be built, or not be started
)

// A finding is what a trial has shown.
type finding struct {
	outcome outcome
	test    string // that failed
	output  string
	took    time.Duration // without the build
}

// withoutWorkspace has the go command build a module by its own go.mod: the tree may lie in a workspace of others.
const withoutWorkspace = "GOWORK=off"

// buildLimit bounds the build of a test binary, on a machine that has other things to do as well.
const buildLimit = 5 * time.Minute

// build makes the test binary of a suite, with an overlay if there is one.
func build(ctx context.Context, s *suite, root, overlay, binary string) error {
	ctx, cancel := context.WithTimeout(ctx, buildLimit)
	defer cancel()
	args := []string{"test", "-c", "-o", binary}
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

// grace is what a test binary has beyond its own timeout, to say where it hangs.
const grace = 10 * time.Second

// run runs a trial's test binary until its first failing test, and ends what it leaves behind.
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
	err := cmd.Run() // an error, too, if a process that was left behind holds on to the output
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

// environment is what test binaries get: that of this process, but with the proof's fixed seeds, and with no figures
// written; and tests that find no database must not pass for it.
func environment(own []string) []string {
	kept := slices.DeleteFunc(slices.Clone(own), func(v string) bool {
		return strings.HasPrefix(v, "PROOF_") || strings.HasPrefix(v, "DYNAMODB_REQUIRED=")
	})
	return append(kept, "DYNAMODB_REQUIRED=1")
}

// failingTest names the first test that failed, as deep as its name goes, in the output of a test binary with -test.v.
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
