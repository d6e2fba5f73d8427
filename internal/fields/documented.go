package fields

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Documented reads what a Markdown file says of the fields that a command prints: the table under the heading "### command
// --json". The first column of it has the paths, the second begins with their kinds. Several commands may have one heading.
func Documented(file, command string) (Fields, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	found, within := make(Fields), false
	for line := range strings.Lines(string(text)) {
		if title, ok := strings.CutPrefix(line, "#"); ok {
			titles := strings.Split(strings.TrimSpace(strings.Trim(title, "# \n")), ", ")
			within = slices.Contains(titles, command+" --json")
		}
		cells := strings.Split(line, "|")
		if !within || len(cells) < 4 || !strings.Contains(cells[1], "`") {
			continue
		}
		kind, _, _ := strings.Cut(strings.TrimSpace(cells[2]), ",")
		for _, path := range strings.Split(cells[1], ", ") {
			found[strings.Trim(path, "` ")] = kind
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s has no table of fields under a heading %q", file, "### "+command+" --json")
	}
	return found, nil
}
