package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dynamolease/dynamolease/internal/testkit"
)

// TestMain lets the test program stand in for the command in tests that need a process.
func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(testkit.Main(m))
}

// asCommand is a variable that makes the test program the command.
const asCommand = "DYNAMOLEASE_TEST_AS_COMMAND"

// call runs the program and returns its output.
func call(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	return answer(ctx, nil, args...)
}

// answer runs the program with a user who answers its questions, or without one if in is nil.
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
		{"help", []string{"help"}, 0, "  drain       Have a node", ""},
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
		{"version", []string{"version"}, 0, "dynamolease ", ""},
		{"version as JSON", []string{"version", "--json"}, 0, `"go": "go`, ""},
		{"bash", []string{"completion", "bash"}, 0, "# bash completion V2 for dynamolease", ""},
		{"zsh", []string{"completion", "zsh"}, 0, "#compdef dynamolease", ""},
		{"no shell", []string{"completion"}, 2, "", "completion: say for which shell: bash, zsh or fish\n"},
		{"two shells", []string{"completion", "bash", "zsh"}, 2, "", `unexpected argument "zsh"`},
		{"help of a command", []string{"help", "table", "check"}, 0, "dynamolease table check [flags]", ""},
		{"help of no command", []string{"help", "frob"}, 2, "", `there is no command "frob"; there are completion, drain, leases`},
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
