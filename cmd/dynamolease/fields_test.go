package main

import (
	"testing"

	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/operate"
	"github.com/dynamolease/dynamolease/internal/fields"
)

// checkFields expects the documentation to name the fields that a command has printed.
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

// The documentation names each field that a command can print with --json, with its kind, and no
// other.
func TestDocsNameEachField(t *testing.T) {
	for command, all := range map[string]func() (fields.Fields, error){
		"table create": fields.OfType[operate.Checked], "table check": fields.OfType[operate.Checked], "table describe": fields.OfType[operate.Description],
		"leases": fields.OfType[operate.Leases], "members": fields.OfType[operate.Members], "process": fields.OfType[operate.Process],
		"release": fields.OfType[operate.Released], "drain": fields.OfType[operate.Standing], "undrain": fields.OfType[operate.Standing],
		"reap": fields.OfType[operate.Reaping], "version": fields.OfType[build],
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
