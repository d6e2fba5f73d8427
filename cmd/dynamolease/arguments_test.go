package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// visit calls f for a command and all below it, except hidden ones.
func visit(c *cobra.Command, f func(*cobra.Command)) {
	if c.Hidden {
		return
	}
	f(c)
	for _, sub := range c.Commands() {
		visit(sub, f)
	}
}

// words returns a command line with good arguments.
func words(c *cobra.Command) []string {
	line := strings.Fields(strings.TrimPrefix(c.CommandPath(), "dynamolease"))
	for _, name := range strings.Fields(c.Use)[1:] {
		switch name {
		case "PARTITION":
			line = append(line, "1")
		case "bash|zsh|fish":
			line = append(line, "bash")
		case "GROUP", "SERVICE", "NODE":
			line = append(line, "some")
		}
	}
	return line
}

// quiet is a database and a user at a terminal, which fail the test if anything is asked of them.
type quiet struct {
	*testing.T
	asked atomic.Int32
}

func newQuiet(t *testing.T) *quiet {
	t.Helper()
	q := &quiet{T: t}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		q.asked.Add(1)
		http.Error(w, "no", http.StatusBadRequest)
	}))
	t.Cleanup(server.Close)
	t.Setenv(tableVariable, "leases")
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", server.URL)
	return q
}

func (q *quiet) Read([]byte) (int, error) {
	q.asked.Add(1)
	return 0, errors.New("nobody is to be asked")
}

// refuses expects the command to refuse arguments before it asks or sends anything.
func (q *quiet) refuses(problem string, args ...string) {
	q.Helper()
	code, out, errs := answer(q.Context(), q, args...)
	if code != 2 || out != "" || !strings.Contains(errs, problem) || q.asked.Swap(0) != 0 {
		q.Errorf("%q: code %d, want %q:\n%s%s", args, code, problem, out, errs)
	}
}

// Each problem of a flag or an argument is reported before the command asks or sends anything.
func TestArgumentsAreCheckedFirst(t *testing.T) {
	q := newQuiet(t)
	visit((&program{}).root(), func(c *cobra.Command) {
		if c.HasSubCommands() {
			return
		}
		check := func(f *pflag.Flag) {
			name := "--" + f.Name
			switch f.Value.Type() {
			case "duration":
				q.refuses(name+" must", append(words(c), name, "-1s")...)
				q.refuses(name+` "soon" is not a duration`, append(words(c), name, "soon")...)
			case "int":
				q.refuses(name+" must", append(words(c), name, "-1")...)
				q.refuses(name+` "many" is not a whole number`, append(words(c), name, "many")...)
			case "bool":
				q.refuses(name+` "perhaps" is not true or false`, append(words(c), name+"=perhaps")...)
			}
		}
		c.LocalFlags().VisitAll(check)
		c.InheritedFlags().VisitAll(check)
		for i, name := range strings.Fields(c.Use)[1:] {
			at := len(strings.Fields(c.CommandPath())) - 1 + i
			for _, bad := range badArguments[strings.Trim(name, "[].")] {
				line := words(c)
				if strings.HasPrefix(name, "[") {
					line = append(line, bad)
				} else {
					line[at] = bad
				}
				q.refuses(strings.Trim(name, "[].")+" ", append(line, "--")...)
			}
		}
	})
	q.refuses("--segments must be between 1 and 16", "reap", "--segments", "0")
	q.refuses("--segments must be between 1 and 16", "reap", "--segments", "17")
	q.refuses("--grace must be between 0 and a year", "reap", "--grace", "8761h")
	q.refuses("--timeout must be more than 0", "reap", "--timeout", "0s")
	q.refuses("--wait must be more than 0", "table", "create", "--wait", "0s")
	q.refuses(`--table "no table" is neither the name of a table`, "reap", "--table", "no table")
	q.refuses(`--region "Europe, west" is not a Region`, "reap", "--region", "Europe, west")
	q.refuses(`--endpoint-url "localhost" is not a URL`, "reap", "--endpoint-url", "localhost")
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", "localhost:8000")
	q.refuses(`the endpoint URL "localhost:8000" is not a URL`, "reap")
}

var badArguments = map[string][]string{
	"GROUP": badNames, "SERVICE": badNames, "NODE": append([]string{"a#b"}, badNames...),
	"PARTITION": {"x", "", "1.5", "-1", "10000000000", "99999999999999999999"},
}

var badNames = []string{"", strings.Repeat("x", 256), "\xff"}

// The command refuses what the library refuses, and nothing else.
func TestArgumentsAreThoseOfTheLibrary(t *testing.T) {
	f := newFixture(t)
	over, cancel := context.WithCancel(t.Context())
	cancel() // so that nothing is sent
	same := func(what string, refused bool, err error) {
		t.Helper()
		if argument := new(dynamolease.ArgumentError); refused != errors.As(err, &argument) {
			t.Errorf("%s: refused %v, and the library says %v", what, refused, err)
		}
	}
	for _, name := range append(badNames, "a", "a#b", " ", "ä", strings.Repeat("x", 255), strings.Repeat("ä", 128)) {
		_, err := f.store.Owners(over, name)
		same("GROUP "+name, checkArgument("GROUP", name) != nil, err)
		_, err = f.store.Members(over, name)
		same("SERVICE "+name, checkArgument("SERVICE", name) != nil, err)
		same("NODE "+name, checkArgument("NODE", name) != nil, f.store.Drain(over, "some", name))
	}
	for _, partition := range []int{-1, 0, 1, maxPartition, maxPartition + 1} {
		_, _, err := f.store.Revoke(over, "some", partition, 1)
		_, wrong := parsePartition(strconv.Itoa(partition))
		same("PARTITION "+strconv.Itoa(partition), wrong != nil, err)
	}
	for _, segments := range []int{-1, 1, maxSegments, maxSegments + 1} {
		_, err := f.store.Reap(over, dynamolease.ReapConfig{Segments: segments})
		same("segments "+strconv.Itoa(segments), segments < 1 || segments > maxSegments, err)
	}
	_, err := f.store.Reap(over, dynamolease.ReapConfig{Grace: maxGrace})
	same("grace", false, err)
	_, err = f.store.Reap(over, dynamolease.ReapConfig{Grace: maxGrace + 1})
	same("grace", true, err)
}

func TestHelpShowsFlagsAsTheyAreGiven(t *testing.T) {
	visit((&program{}).root(), func(c *cobra.Command) {
		code, help, _ := call(t.Context(), append(words(c), "--help")...)
		if code != 0 || strings.Contains(help, "true|false") || !strings.Contains(help, "      --json ") || !strings.Contains(help, "  -h, --help ") {
			t.Errorf("%s: code %d\n%s", c.CommandPath(), code, help)
		}
	})
	for command, shown := range map[string]bool{"leases": true, "table create": true, "version": false} {
		_, help, _ := call(t.Context(), append(strings.Fields(command), "--help")...)
		if strings.Contains(help, "--endpoint-url") != shown {
			t.Errorf("%s:\n%s", command, help)
		}
	}
	_, help, _ := call(t.Context(), "help", "reap")
	if !strings.Contains(help, "  -y, --yes ") || strings.Contains(help, "15s") || !strings.Contains(help, "how long the run may take at most (default no limit)") {
		t.Errorf("reap:\n%s", help)
	}
}
