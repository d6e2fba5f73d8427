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

	"go.uber.org/goleak"
)

var errInterrupted = errors.New("interrupted by the test")

// TestMain lets the test program stand in for the command when the demo starts its workers.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "demo-worker" {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	goleak.VerifyTestMain(m)
}

// call runs the program and returns what it printed.
func call(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(ctx, args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestArguments(t *testing.T) {
	tests := []struct {
		name           string
		args           []string
		code           int
		stdout, stderr string // parts
	}{
		{"none", nil, 2, "", "Usage: dynamolease COMMAND"},
		{"help", []string{"help"}, 0, "  demo     four processes", ""},
		{"-h", []string{"-h"}, 0, "Usage: dynamolease COMMAND", ""},
		{"unknown command", []string{"dmeo"}, 2, "", `there is no command "dmeo"`},
		{"help of the demo", []string{"demo", "-h"}, 0, "", "words=N expected=N"},
		{"unknown flag", []string{"demo", "-x"}, 2, "", "-x"},
		{"left over", []string{"demo", "now"}, 2, "", `unexpected argument "now"; see -h`},
		{"ttl too short", []string{"demo", "-ttl", "10ms"}, 2, "", "-ttl must be at least 1s"},
		{"negative pace", []string{"demo", "-pace", "-1s"}, 2, "", "-pace must not be negative"},
		{"an input without files", []string{"demo", "-input", t.TempDir()}, 1, "", "there are no .go files in it"},
		{"no input", []string{"demo", "-input", "/does/not/exist"}, 1, "", "/does/not/exist"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := call(t.Context(), tt.args...)
			if code != tt.code || !strings.Contains(stdout, tt.stdout) || !strings.Contains(stderr, tt.stderr) {
				t.Errorf("code %d, want %d\nstdout, want %q:\n%s\nstderr, want %q:\n%s", code, tt.code, tt.stdout, stdout, tt.stderr, stderr)
			}
		})
	}
}

func TestHelpHidesWhatPeopleDoNotCall(t *testing.T) {
	if _, stdout, _ := call(t.Context(), "help"); strings.Contains(stdout, "demo-worker") {
		t.Errorf("help shows demo-worker:\n%s", stdout)
	}
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

func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("takes several seconds")
	}
	t.Setenv("TMPDIR", t.TempDir()) // the records are kept if a figure is off
	dir, words := writeInput(t, 800)
	code, stdout, stderr := call(t.Context(), "demo", "-input", dir, "-ttl", "1s", "-pace", "300ms", "-timeout", "1m")
	if code != 0 || stderr != "" {
		t.Errorf("exit code %d, stderr:\n%s", code, stderr)
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
	code, _, stderr := call(ctx, "demo", "-input", dir)
	if code != 1 || !strings.Contains(stderr, errInterrupted.Error()) {
		t.Errorf("exit code %d, stderr:\n%s", code, stderr)
	}
	left, err := filepath.Glob(filepath.Join(temp, "dynamolease-demo-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A run in which no worker is ever in the middle of anything, and so none is killed, has its figures off.
func TestDemoSaysWhatIsOff(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Setenv("TMPDIR", t.TempDir()) // the records are kept
	dir, _ := writeInput(t, 20)
	code, stdout, stderr := call(t.Context(), "demo", "-input", dir, "-ttl", "1s", "-pace", "0s")
	if code != 1 || !strings.Contains(stdout, "OFF: ") || !strings.Contains(stderr, errOff.Error()) {
		t.Errorf("exit code %d, stdout:\n%s\nstderr:\n%s", code, stdout, stderr)
	}
}
