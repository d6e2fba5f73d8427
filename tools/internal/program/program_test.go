package program

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRun(t *testing.T) {
	for name, test := range map[string]struct {
		args        []string
		fails       error
		code        int
		out, errors string // parts
	}{
		"done":                  {code: Done},
		"help":                  {args: []string{"--help"}, code: Done, out: "About it.\n\nUsage:\n  some [flags]\n\nFlags:\n      --n int"},
		"unknown flag":          {args: []string{"--m"}, code: Misuse, errors: "some: unknown flag: --m\nsome --help explains the flags.\n"},
		"not a number":          {args: []string{"--n", "x"}, code: Misuse, errors: `invalid argument "x" for "--n" flag`},
		"left over":             {args: []string{"x"}, code: Misuse, errors: `some: unexpected argument "x"`},
		"fails":                 {fails: errors.New("broken"), code: Failed, errors: "some: broken\n"},
		"cannot reach a server": {fails: &net.OpError{Op: "dial", Err: errors.New("refused")}, code: Failed, errors: "check DYNAMODB_ENDPOINT"},
	} {
		t.Run(name, func(t *testing.T) {
			command := func(_ context.Context, args []string, out, _ io.Writer) error {
				flags := Flags("some", "About it.", out)
				flags.Int("n", 1, "a number")
				if err := Parse(flags, args); err != nil {
					return err
				}
				return test.fails
			}
			var out, errs bytes.Buffer
			code := Run(t.Context(), "some", command, test.args, &out, &errs)
			if code != test.code || !strings.Contains(out.String(), test.out) || !strings.Contains(errs.String(), test.errors) {
				t.Errorf("code %d, want %d\n%s%s", code, test.code, &out, &errs)
			}
		})
	}
}
