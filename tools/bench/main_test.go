package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/dynamolease/dynamolease/internal/fields"
	"github.com/dynamolease/dynamolease/internal/testkit"
	"github.com/dynamolease/dynamolease/tools/internal/program"
)

const document = "../README.md"

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = program.Run(t.Context(), "bench", run, args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestArguments(t *testing.T) {
	for problem, args := range map[string][]string{
		"--rounds must be at least 1":                  {"--rounds", "0"},
		"--limit must be more than 0":                  {"--limit", "0s"},
		"--run: error parsing regexp":                  {"--run", "("},
		"--timeout must be more than 0":                {"--timeout", "0s"},
		"--docs must be a directory with a cost.md":    {"--docs", t.TempDir()},
		"--docs needs a run of everything":             {"--docs", "../../docs", "--run", "Acquire"},
		`unexpected argument "now"`:                    {"now"},
		`invalid argument "soon" for "--timeout" flag`: {"--timeout", "soon"},
	} {
		if code, out, errs := call(t, args...); code != program.Misuse || out != "" || !strings.Contains(errs, problem) {
			t.Errorf("%q: code %d, want %q:\n%s%s", args, code, problem, out, errs)
		}
	}
	if code, out, _ := call(t, "--help"); code != 0 || !strings.Contains(out, "--docs DIRECTORY") {
		t.Errorf("code %d\n%s", code, out)
	}
}

func TestTimeout(t *testing.T) {
	code, _, errs := call(t, "--run", "^Acquire", "--timeout", "20ms")
	if code != program.Failed || !strings.Contains(errs, "it took longer than --timeout allows (20ms)") {
		t.Errorf("code %d, %s", code, errs)
	}
}

// The documentation names each field of the published figures, with its kind, and no other.
func TestDocsNameEachField(t *testing.T) {
	published, err := os.ReadFile("../../docs/cost.json") // a run of everything
	if err != nil {
		t.Fatal(err)
	}
	documented, err := fields.Documented(document, "bench")
	if err != nil {
		t.Fatal(err)
	}
	found, err := fields.Of(published)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range found.Differences(documented) {
		t.Error(problem)
	}
}

// What bench prints today may differ from the published figures.
func TestPrintsWhatIsDocumented(t *testing.T) {
	if testing.Short() {
		t.Skip("measures")
	}
	code, out, errs := call(t, "--json", "--run", "^(Acquire|Round of 10 leases)", "--rounds", "1", "--limit", "100ms")
	if code != 0 {
		t.Fatalf("code %d, %s", code, errs)
	}
	documented, err := fields.Documented(document, "bench")
	if err != nil {
		t.Fatal(err)
	}
	found, err := fields.Of([]byte(out))
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range found.Undocumented(documented) {
		t.Error(problem)
	}
}
