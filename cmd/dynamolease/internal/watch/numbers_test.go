package watch

import (
	"fmt"
	"testing"
)

func numbered(n numbers, nodes ...string) map[string]int {
	list := make([]member, len(nodes))
	for i, node := range nodes {
		list[i].Node = node
	}
	n.number(list)
	got := make(map[string]int)
	for _, m := range list {
		got[m.Node] = m.number
	}
	return got
}

// A node that goes or comes does not change the marks of the others.
func TestNumbersStay(t *testing.T) {
	n := make(numbers)
	for _, look := range []struct {
		nodes []string
		want  map[string]int
	}{
		{[]string{"a", "b", "c"}, map[string]int{"a": 0, "b": 1, "c": 2}},
		{[]string{"a", "c"}, map[string]int{"a": 0, "c": 2}},
		{[]string{"a", "aa", "c"}, map[string]int{"a": 0, "aa": 3, "c": 2}},
		{[]string{"a", "aa", "b", "c"}, map[string]int{"a": 0, "aa": 3, "b": 1, "c": 2}},
	} {
		if got := numbered(n, look.nodes...); fmt.Sprint(got) != fmt.Sprint(look.want) {
			t.Errorf("%v: %v, want %v", look.nodes, got, look.want)
		}
	}
}

// However many nodes come and go, those that are there have marks of their own while there are
// enough.
func TestNumbersAreUsedAgain(t *testing.T) {
	n := make(numbers)
	for i := range 1000 {
		got := numbered(n, "stays", fmt.Sprint("old ", i), fmt.Sprint("old ", i+1))
		seen := make(map[int]bool)
		for node, number := range got {
			if seen[number] || number >= len(marks) || node == "stays" && number != 0 {
				t.Fatalf("look %d: %v", i, got)
			}
			seen[number] = true
		}
	}
}
