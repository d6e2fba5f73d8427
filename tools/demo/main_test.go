package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/internal/fields"
	"github.com/dynamolease/dynamolease/internal/testkit"
	"github.com/dynamolease/dynamolease/tools/internal/demo"
	"github.com/dynamolease/dynamolease/tools/internal/program"
)

var errInterrupted = errors.New("interrupted by the test")

// TestMain lets the test program stand in for the command when the demo starts its workers.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == workerArgument {
		main()
	}
	os.Exit(testkit.Main(m))
}

func call(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = program.Run(ctx, "demo", start, args, &out, &errs)
	return code, out.String(), errs.String()
}

// writeInput makes a directory with some files to count.
func writeInput(t *testing.T, files int) (dir string, words int) {
	t.Helper()
	dir = t.TempDir()
	for i := range files {
		text := strings.Repeat(fmt.Sprintf("word%d\n", i), i%200)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.go", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		words += i % 200
	}
	return dir, words
}

func TestArguments(t *testing.T) {
	for name, test := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string // parts
	}{
		"help":                   {[]string{"--help"}, 0, "words=N expected=N", ""},
		"left over":              {[]string{"now"}, 2, "", `unexpected argument "now"`},
		"ttl too short":          {[]string{"--ttl", "10ms"}, 2, "", "--ttl must be at least 1s"},
		"negative pace":          {[]string{"--pace", "-1s"}, 2, "", "--pace must not be negative"},
		"no time":                {[]string{"--timeout", "0s"}, 2, "", "--timeout must be more than 0"},
		"an input without files": {[]string{"--input", t.TempDir()}, 1, "", "there are no .go files in it"},
		"no input":               {[]string{"--input", "/does/not/exist"}, 1, "", "/does/not/exist"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := call(t.Context(), test.args...)
			if code != test.code || !strings.Contains(stdout, test.stdout) || !strings.Contains(stderr, test.stderr) {
				t.Errorf("code %d, want %d\n%s%s", code, test.code, stdout, stderr)
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	dir, _ := writeInput(t, 20)
	code, _, errs := call(t.Context(), "--input", dir, "--timeout", "20ms")
	if code != 1 || !strings.Contains(errs, "the demo did not end within 20ms, as --timeout says") {
		t.Errorf("code %d, %s", code, errs)
	}
}

func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("takes several seconds")
	}
	t.Setenv("TMPDIR", t.TempDir()) // the records are kept if a figure is off
	dir, words := writeInput(t, 800)
	code, stdout, stderr := call(t.Context(), "--input", dir, "--ttl", "1s", "--pace", "300ms", "--timeout", "1m")
	if code != 0 || stderr != "" {
		t.Errorf("exit code %d, stderr:\n%s", code, stderr)
	}
	if !strings.Contains(stdout, "\n  go run ./cmd/dynamolease watch demo --table ") {
		t.Errorf("nothing says how to watch it:\n%s", stdout)
	}
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	last := regexp.MustCompile(fmt.Sprintf(
		`^words=%d expected=%d partitions=64 workers=4 killed=1 paused=1 takeovers=[1-9]\d* overlaps=0 resumed=[1-9]\d* duplicates=0$`, words, words))
	if !last.MatchString(lines[len(lines)-1]) {
		t.Errorf("the last line is not as it must be:\n%s", stdout)
	}
	if strings.ContainsRune(stdout, '\x1b') {
		t.Error("control sequences, although the output is no terminal")
	}
}

// An interrupted demo ends soon, and leaves no goroutine, which goleak checks, and no file behind.
func TestDemoIsInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	dir, _ := writeInput(t, 800)
	ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Second, errInterrupted)
	defer cancel()
	code, _, stderr := call(ctx, "--input", dir)
	if code != 1 || !strings.Contains(stderr, errInterrupted.Error()) {
		t.Errorf("exit code %d, stderr:\n%s", code, stderr)
	}
	left, err := filepath.Glob(filepath.Join(temp, "dynamolease-demo-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// In this run no worker is ever in the middle of anything, so that none is killed, and the figures
// are off.
func TestDemoSaysWhatIsOff(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Setenv("TMPDIR", t.TempDir()) // the records are kept
	dir, _ := writeInput(t, 20)
	code, stdout, stderr := call(t.Context(), "--input", dir, "--ttl", "1s", "--pace", "0s")
	if code != 1 || !strings.Contains(stdout, "OFF: ") || !strings.Contains(stderr, errOff.Error()) {
		t.Errorf("exit code %d, stdout:\n%s\nstderr:\n%s", code, stdout, stderr)
	}
}

// The documentation names each field that the demo prints with --json, with its kind, and no other.
func TestDocsNameEachField(t *testing.T) {
	documented, err := fields.Documented("../README.md", "demo")
	if err != nil {
		t.Fatal(err)
	}
	found, err := fields.OfType[demo.Verdict]()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range found.Differences(documented) {
		t.Error(problem)
	}
}
