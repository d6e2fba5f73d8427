package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// A promise is one row of the tables.
type promise struct {
	number string
	text   string
}

// row matches a row with a number in its first column. It does not match others, such as the head
// of a table.
var row = regexp.MustCompile(`^\|\s*((?:LS|PL|CO|C)[0-9]+)\s*\|\s*(.+?)\s*\|$`)

// readPromises reads the tables, in order. A number that appears twice is an error.
func readPromises(file string) ([]promise, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the promises: %w", err)
	}
	var promises []promise
	seen := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		found := row.FindStringSubmatch(strings.TrimSpace(line))
		if found == nil {
			continue
		}
		if seen[found[1]] {
			return nil, fmt.Errorf("%s: %s appears twice", file, found[1])
		}
		seen[found[1]] = true
		promises = append(promises, promise{found[1], found[2]})
	}
	if len(promises) == 0 {
		return nil, fmt.Errorf("%s: no row of a table begins with the number of a promise", file)
	}
	return promises, nil
}
