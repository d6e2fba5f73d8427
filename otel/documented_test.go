package dynamoleaseotel_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// What the package documentation and the dashboards' say of instruments is what a reader sees, and all of it.
func TestDocumentedInstruments(t *testing.T) {
	documents := map[string]*regexp.Regexp{
		"doc.go":                       regexp.MustCompile(`(?m)^//\t(dynamolease\.\S+) +(\S+) +(\S+) *(.*)$`),
		"../docs/dashboards/README.md": regexp.MustCompile("(?m)^\\| `(dynamolease\\.\\S+)` \\| (\\w+) \\| `(\\S+)` \\| ([^|]*?) ?\\|"),
	}
	inVirtualTime(t, func(w *world) {
		there := everything(w).instruments
		for file, table := range documents {
			documented := readInstruments(t, file, table)
			for name, want := range documented {
				if got, ok := there[name]; !ok || got != want {
					t.Errorf("%s says that %s is %+v, it is %+v (there: %t)", file, name, want, got, ok)
				}
			}
			for name, got := range there {
				if _, ok := documented[name]; !ok {
					t.Errorf("%s does not mention %s, %+v", file, name, got)
				}
			}
		}
	})
}

// everything has a node do all that is measured.
func everything(w *world) figures {
	n, other := w.node("a"), w.node("b")
	n.run(4)
	rounds(3)
	other.run(4)
	n.path.Next("UpdateItem", dynamotest.LoseResponse())
	rounds(3)
	return n.collect()
}

func readInstruments(t *testing.T, file string, table *regexp.Regexp) map[string]instrument {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	documented := make(map[string]instrument)
	for _, row := range table.FindAllStringSubmatch(string(text), -1) {
		documented[row[1]] = instrument{kind: row[2], unit: row[3], attributes: sorted(row[4])}
	}
	return documented
}

func sorted(list string) string {
	names := strings.Split(strings.TrimSpace(list), ", ")
	slices.Sort(names)
	return strings.Join(names, ", ")
}
