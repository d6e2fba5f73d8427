package operate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// namesShown bounds how many names a message lists.
const namesShown = 10

// nearest lists names, the most similar to a mistyped one first.
func nearest(to string, names []string) string {
	sorted := slices.SortedFunc(slices.Values(names), func(a, b string) int {
		return cmp.Or(cmp.Compare(distance(a, to), distance(b, to)), cmp.Compare(a, b))
	})
	shown := make([]string, 0, namesShown)
	for _, name := range sorted[:min(namesShown, len(sorted))] {
		shown = append(shown, Printable(name))
	}
	text := strings.Join(shown, ", ")
	if more := len(sorted) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// distance counts the characters to add, drop or change between two names.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for i := range row {
		row[i] = i
	}
	for i, r := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j := range to {
			change := diagonal
			if r != to[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(to)]
}
