package fields_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/internal/fields"
)

type sample struct {
	Name  string         `json:"name"`
	Count *int           `json:"count,omitempty"`
	At    time.Time      `json:"at,omitzero"`
	Parts []part         `json:"parts,omitempty"`
	Sent  map[string]int `json:"sent,omitempty"`
}

type part struct {
	On   bool   `json:"on"`
	Data []byte `json:"data,omitempty"`
}

const document = "# A document\n\n### some --json, other --json\n\n| field | type | what |\n| --- | --- | --- |\n| `name` | string, a word | what it is |\n" +
	"| `count` | string | wrong |\n| `at` | time | |\n| `parts[].on`, `parts[].data` | boolean | half wrong |\n| `gone` | number | |\n\n### third --json\n\n| `more` | string | |\n"

func TestDifferences(t *testing.T) {
	file := filepath.Join(t.TempDir(), "document.md")
	if err := os.WriteFile(file, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := fields.OfType[sample]()
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"some", "other"} {
		documented, err := fields.Documented(file, command)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{
			"count is documented as string, and is a number", "parts[].data is documented as boolean, and is a string", "sent.x is not documented",
			"gone is documented, and there is none",
		}
		if got := found.Differences(documented); !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
		documented["sent.*"], documented["count"], documented["parts[].data"] = "number", "number", "string"
		delete(documented, "gone")
		if got := found.Differences(documented); len(got) > 0 {
			t.Errorf("got %q", got)
		}
		printed, err := fields.Of([]byte(`{"name":"a","parts":[],"sent":{"GetItem":1},"new":null}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := printed.Undocumented(documented); !slices.Equal(got, []string{"new is not documented"}) {
			t.Errorf("got %q", got)
		}
	}
	if _, err := fields.Documented(file, "fourth"); err == nil {
		t.Error("a command that is not there is documented")
	}
	if _, err := fields.Of([]byte("{")); err == nil {
		t.Error("half a document is read")
	}
}
