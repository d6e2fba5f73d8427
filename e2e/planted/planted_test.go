package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// small returns the command for the small tree in testdata. Each of its bugs has another verdict.
func small(t *testing.T, names string) command {
	root, err := filepath.Abs("testdata/tree")
	if err != nil {
		t.Fatal(err)
	}
	return command{
		root: root, bugs: "testdata/bugs", names: regexp.MustCompile("^(" + names + ")$"), kind: "all", limit: time.Minute,
		suites: []*suite{
			{name: "clock", short: true, module: ".", pkg: "./clock"},
			{name: "lease", module: ".", pkg: "./lease"},
			{name: "absent", module: ".", pkg: "./absent"},
		},
	}
}

func TestVerdicts(t *testing.T) {
	for name, want := range map[string]struct {
		verdict    verdict
		likelyOnly bool
		limit      time.Duration
		test       string // the test that catches it
		problem    string
	}{
		"caught":       {verdict: caught, test: "TestExpired/exactly"},
		"panics":       {verdict: caught, test: "TestEpoch"},
		"missed":       {verdict: missed, likelyOnly: true},
		"hangs":        {verdict: outOfTime, limit: time.Second, problem: "did not end within 1s"},
		"uncompilable": {verdict: unbuilt, problem: "syntax error"},
		"gone":         {verdict: stale, problem: "lease/lease.go must contain this text once, and contains it 0 times"},
		"twice":        {verdict: stale, problem: "lease/lease.go must contain this text once, and contains it 2 times"},
	} {
		t.Run(name, func(t *testing.T) {
			c := small(t, name)
			c.likelyOnly, c.json, c.figures = want.likelyOnly, filepath.Join(t.TempDir(), "results.json"), t.TempDir()
			if want.limit > 0 {
				c.limit = want.limit
			}
			err := c.run(t.Context(), t.Output())
			if wrong := want.verdict != caught; errors.Is(err, errNotCaught) != wrong {
				t.Errorf("error is %v", err)
			}
			r := read[[]result](t, c.json)[0]
			if r.Verdict != want.verdict || r.Test != want.test || !strings.Contains(r.Problem, want.problem) {
				t.Errorf("result is %+v", r)
			}
			f := read[figures](t, filepath.Join(c.figures, "planted.json"))
			if f.Bugs != 1 || (f.Caught == 1) != (want.verdict == caught) {
				t.Errorf("figures are %+v", f)
			}
		})
	}
}

// The command tries the likely suite for a bug first. It does not try a suite that is not built
// from the changed files.
func TestOrder(t *testing.T) {
	c := small(t, "caught")
	var out bytes.Buffer
	if err := c.run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "without a bug, lease") || strings.Contains(out.String(), "clock") {
		t.Errorf("the output is:\n%s", &out)
	}
}

// A suite that fails without any bug cannot judge one.
func TestFailingSuite(t *testing.T) {
	c := small(t, "caught")
	tree := t.TempDir()
	if err := os.CopyFS(tree, os.DirFS(c.root)); err != nil {
		t.Fatal(err)
	}
	failing := "package lease\n\nimport \"testing\"\n\nfunc TestFails(t *testing.T) { t.Fatal(\"as always\") }\n"
	if err := os.WriteFile(filepath.Join(tree, "lease", "failing_test.go"), []byte(failing), 0o600); err != nil {
		t.Fatal(err)
	}
	c.root = tree
	err := c.run(t.Context(), t.Output())
	if err == nil || errors.Is(err, errNotCaught) || !strings.Contains(err.Error(), "without any bug, lease fails: TestFails") {
		t.Errorf("error is %v", err)
	}
}

func TestBrokenFile(t *testing.T) {
	c := small(t, "broken")
	c.bugs = "testdata/broken"
	if err := c.run(t.Context(), t.Output()); err == nil || !strings.Contains(err.Error(), "broken.bug: a bug needs") {
		t.Errorf("error is %v", err)
	}
}

// The command kills the processes that a run leaves behind, even in another session.
func TestNothingIsLeft(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	t.Setenv("TREE_PID_FILE", file)
	c := small(t, "panics")
	if err := c.run(t.Context(), t.Output()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if state := processState(pid); state != "" && state != "Z" {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		t.Errorf("process %d still exists, in state %s", pid, state)
	}
}

func TestFailingTest(t *testing.T) {
	for name, test := range map[string]struct{ output, want string }{
		"deepest":  {"=== RUN   TestA\n--- FAIL: TestA (0.1s)\n    --- PASS: TestA/x (0.1s)\n    --- FAIL: TestA/y (0.1s)\n        --- FAIL: TestA/y/z (0.1s)\n", "TestA/y/z"},
		"first":    {"--- FAIL: TestA (0.1s)\n--- FAIL: TestB (0.1s)\n", "TestA"},
		"panic":    {"=== RUN   TestA\n=== RUN   TestA/x\npanic: oh\n", "TestA/x (panic)"},
		"TestMain": {"=== RUN   TestA\n--- PASS: TestA (0.1s)\nPASS\nfound unexpected goroutines\n", "TestMain"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := failingTest(test.output); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// Each bug in the folder fits the library: the library contains its text, its numbers belong to
// promises, and its suites and tests exist.
func TestBugs(t *testing.T) {
	library, err := root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	bugs, err := readBugs("bugs", regexp.MustCompile(""))
	if err != nil {
		t.Fatal(err)
	}
	tests := make(map[string][]string)
	for _, s := range allSuites() {
		tests[s.name] = testsOf(t, s.folder(library))
	}
	number := regexp.MustCompile(`^((LS|PL|CO)[0-9]+|C[0-9][0-9]|Revoke|Drain)$`)
	for _, b := range bugs {
		if _, err := plant(b, library, t.TempDir()); err != nil {
			t.Errorf("%s: %v", b.name, err)
		}
		for _, n := range b.breaks {
			if !number.MatchString(n) {
				t.Errorf("%s: breaks %q, which is not the number of a promise", b.name, n)
			}
		}
		for _, c := range b.catch {
			if tests[c.suite] == nil {
				t.Errorf("%s: no suite has the name %q", b.name, c.suite)
			}
			if strange := strangers(c.tests, tests[c.suite]); len(strange) > 0 {
				t.Errorf("%s: no test of %s matches %q", b.name, c.suite, strange)
			}
		}
	}
	if len(bugs) < 28 {
		t.Errorf("the folder has only %d bugs", len(bugs))
	}
}

// testsOf lists the tests of a folder.
func testsOf(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(text, -1) {
			names = append(names, string(found[1]))
		}
	}
	return names
}

// strangers returns the alternatives of a pattern for go test -run that match none of the tests. It
// ignores the names of subtests.
func strangers(pattern string, tests []string) []string {
	var strange []string
	for alternative := range strings.SplitSeq(pattern, "|") {
		name, _, _ := strings.Cut(alternative, "/")
		matches, err := regexp.Compile(name)
		if err != nil || !slices.ContainsFunc(tests, matches.MatchString) {
			strange = append(strange, alternative)
		}
	}
	return strange
}

// strangers finds a test that no longer exists, even among several alternatives.
func TestStrangers(t *testing.T) {
	tests := []string{"TestRenew", "TestRenewOneLost"}
	for pattern, want := range map[string]string{
		"": "", "TestRenew": "", "TestRenew$/x|TestRenewOne": "", "TestGone|TestRenew": "TestGone", "TestRenew|TestGone/x": "TestGone/x", "(": "(",
	} {
		if got := strings.Join(strangers(pattern, tests), " "); got != want {
			t.Errorf("%q: strangers are %q, want %q", pattern, got, want)
		}
	}
}

func read[T any](t *testing.T, file string) T {
	t.Helper()
	var value T
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &value)
	}
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// processState returns the letter with which Linux shows the state of a process. It returns "" if
// the process does not exist.
func processState(pid int) string {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	state, _, _ := strings.Cut(rest, " ")
	return state
}
