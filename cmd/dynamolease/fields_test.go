package main

import (
	"os"
	"testing"

	"github.com/dynamolease/dynamolease/internal/demo"
	"github.com/dynamolease/dynamolease/internal/fields"
	"github.com/dynamolease/dynamolease/internal/operate"
)

// checkFields expects that what a command has printed is documented.
func checkFields(t testing.TB, command string, printed []byte) {
	t.Helper()
	documented, err := fields.Documented(document, command)
	if err != nil {
		t.Error(err)
		return
	}
	found, err := fields.Of(printed)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range found.Undocumented(documented) {
		t.Errorf("%s --json: %s", command, problem)
	}
}

// The documentation names each field that a command can print with --json, with its kind, and no other.
func TestDocsNameEachField(t *testing.T) {
	for command, all := range map[string]func() (fields.Fields, error){
		"table create": fields.OfType[operate.Checked], "table check": fields.OfType[operate.Checked], "table describe": fields.OfType[operate.Description],
		"leases": fields.OfType[operate.Leases], "members": fields.OfType[operate.Members], "process": fields.OfType[operate.Process],
		"release": fields.OfType[operate.Released], "drain": fields.OfType[operate.Standing], "undrain": fields.OfType[operate.Standing],
		"reap": fields.OfType[operate.Reaping], "demo": fields.OfType[demo.Verdict], "version": fields.OfType[build],
		"bench": func() (fields.Fields, error) {
			published, err := os.ReadFile("../../docs/cost.json") // a run of everything
			if err != nil {
				return nil, err
			}
			return fields.Of(published)
		},
	} {
		documented, err := fields.Documented(document, command)
		if err != nil {
			t.Error(err)
			continue
		}
		found, err := all()
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range found.Differences(documented) {
			t.Errorf("%s --json: %s", command, problem)
		}
	}
}

// What the benchmark prints now, besides what it printed when its figures were published.
func TestBenchPrintsWhatIsDocumented(t *testing.T) {
	if testing.Short() {
		t.Skip("measures")
	}
	code, out, errs := call(t.Context(), "bench", "--json", "--run", "^(Acquire|Round of 10 leases)", "--rounds", "1", "--limit", "100ms")
	if code != 0 {
		t.Fatalf("code %d, %s", code, errs)
	}
	checkFields(t, "bench", []byte(out))
}
