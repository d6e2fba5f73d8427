package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/internal/testkit"
)

var errInterrupted = errors.New("interrupted by the test")

// TestMain lets the test program stand in for the command: when the demo starts its workers, and where a test needs a process.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "demo-worker" || os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(testkit.Main(m))
}

// asCommand is set where the test program is to be the command.
const asCommand = "DYNAMOLEASE_TEST_AS_COMMAND"

// call runs the program and returns what it printed.
func call(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	return answer(ctx, nil, args...)
}

// answer runs the program with somebody who answers its questions; nobody if in is nil.
func answer(ctx context.Context, in io.Reader, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	p := &program{in: in, out: &out, err: &errs, asks: in != nil}
	code = p.run(ctx, args)
	return code, out.String(), errs.String()
}

func TestArguments(t *testing.T) {
	t.Setenv(tableVariable, "")
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "none"))
	tests := []struct {
		name           string
		args           []string
		code           int
		stdout, stderr string // parts
	}{
		{"none", nil, 2, "", "a command is missing; there are"},
		{"help", []string{"help"}, 0, "  demo        Four processes", ""},
		{"--help", []string{"--help"}, 0, "Exit codes: 0 done", ""},
		{"unknown command", []string{"dmeo"}, 2, "", `there is no command "dmeo"`},
		{"unknown command of table", []string{"table", "drop"}, 2, "", `there is no command "drop"; there are check, create, describe`},
		{"table alone", []string{"table"}, 2, "", "a command is missing; there are check, create, describe"},
		{"unknown flag", []string{"leases", "--x"}, 2, "", "dynamolease leases: unknown flag: --x"},
		{"group is missing", []string{"leases"}, 2, "", "GROUP is missing"},
		{"partition is missing", []string{"release", "orders"}, 2, "", "PARTITION is missing"},
		{"too much", []string{"members", "shop", "orders"}, 2, "", `unexpected argument "orders"`},
		{"service is missing", []string{"watch"}, 2, "", "SERVICE is missing"},
		{"no table", []string{"leases", "orders"}, 2, "", "no table is given: use --table, or set DYNAMOLEASE_TABLE"},
		{"no Region", []string{"leases", "orders", "--table", "t"}, 2, "", "no Region is given: use --region"},
		{"no URL", []string{"leases", "orders", "--table", "t", "--endpoint-url", "localhost:8000"}, 2, "", "is not a URL such as http://localhost:8000"},
		{"nobody is there", []string{"leases", "orders", "--table", "t", "--endpoint-url", "http://127.0.0.1:1"}, 1, "", "check --endpoint-url"},
		{"no time", []string{"leases", "orders", "--table", "t", "--timeout", "0s"}, 2, "", "--timeout must be more than 0"},
		{"interval too short", []string{"watch", "shop", "--interval", "1ms"}, 2, "", "--interval must be at least 100ms"},
		{"help of the demo", []string{"demo", "--help"}, 0, "words=N expected=N", ""},
		{"left over", []string{"demo", "now"}, 2, "", `unexpected argument "now"`},
		{"ttl too short", []string{"demo", "--ttl", "10ms"}, 2, "", "--ttl must be at least 1s"},
		{"negative pace", []string{"demo", "--pace", "-1s"}, 2, "", "--pace must not be negative"},
		{"an input without files", []string{"demo", "--input", t.TempDir()}, 1, "", "there are no .go files in it"},
		{"no input", []string{"demo", "--input", "/does/not/exist"}, 1, "", "/does/not/exist"},
		{"bench without rounds", []string{"bench", "--rounds", "0"}, 2, "", "--rounds must be at least 1"},
		{"bench of no expression", []string{"bench", "--run", "("}, 2, "", "--run: error parsing regexp"},
		{"version", []string{"version"}, 0, "dynamolease ", ""},
		{"version as JSON", []string{"version", "--json"}, 0, `"go": "go`, ""},
		{"bash", []string{"completion", "bash"}, 0, "# bash completion V2 for dynamolease", ""},
		{"zsh", []string{"completion", "zsh"}, 0, "#compdef dynamolease", ""},
		{"no shell", []string{"completion"}, 2, "", "completion: say for which shell: bash, zsh or fish\n"},
		{"two shells", []string{"completion", "bash", "zsh"}, 2, "", `unexpected argument "zsh"`},
		{"help of a command", []string{"help", "table", "check"}, 0, "dynamolease table check [flags]", ""},
		{"help of no command", []string{"help", "frob"}, 2, "", `there is no command "frob"; there are bench, completion, demo`},
		{"help of no command of table", []string{"help", "table", "drop"}, 2, "", `there is no command "drop"; there are check, create, describe`},
		{"help of a command and more", []string{"help", "reap", "all"}, 2, "", `unexpected argument "all"`},
		{"completing help", []string{"__complete", "help", "und"}, 0, "undrain\t", ""},
		{"a partition below zero", []string{"release", "demo", "-1"}, 2, "", "PARTITION must be 0 or more, not -1\n"},
		{"a partition below zero among flags", []string{"release", "demo", "-12", "--yes"}, 2, "", "PARTITION must be 0 or more, not -12\n"},
		{"a letter for a partition", []string{"release", "demo", "-x"}, 2, "", "unknown shorthand flag: 'x' in -x"},
		{"a number where no partition is", []string{"leases", "-1"}, 2, "", "unknown shorthand flag: '1' in -1"},
		{"watch has a limit of its own", []string{"watch", "--help"}, 0, "may hang before that is said (default 5s)", ""},
		{"another shell", []string{"completion", "csh"}, 2, "", `"csh" is not bash, zsh or fish`},
		{"completing a command", []string{"__complete", "und"}, 0, "undrain\t", ""},
		{"completing a flag", []string{"__complete", "release", "orders", "--w"}, 0, "--wait\t", ""},
		{"fish", []string{"completion", "fish"}, 0, "# fish completion for dynamolease", ""},
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
	code, stdout, stderr := call(t.Context(), "demo", "--input", dir, "--ttl", "1s", "--pace", "300ms", "--timeout", "1m")
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
	code, _, stderr := call(ctx, "demo", "--input", dir)
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
	code, stdout, stderr := call(t.Context(), "demo", "--input", dir, "--ttl", "1s", "--pace", "0s")
	if code != 1 || !strings.Contains(stdout, "OFF: ") || !strings.Contains(stderr, errOff.Error()) {
		t.Errorf("exit code %d, stdout:\n%s\nstderr:\n%s", code, stdout, stderr)
	}
}
