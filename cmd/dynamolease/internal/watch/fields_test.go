package watch

import (
	"testing"

	"github.com/dynamolease/dynamolease/internal/fields"
)

// The documentation names each field of the JSON output, with its kind, and no other.
func TestDocsNameEachField(t *testing.T) {
	documented, err := fields.Documented(document, "watch")
	if err != nil {
		t.Fatal(err)
	}
	found, err := fields.OfType[snapshot]()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range found.Differences(documented) {
		t.Errorf("watch --json: %s", problem)
	}
}
