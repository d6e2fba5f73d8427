package dynamolease

import (
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// What a row says of the partitions that a node takes is what the node said, whatever groups it has.
func TestTakesTextCO23(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var groups []string
		takes := make(map[string]Takes)
		for i := range rapid.IntRange(0, 100).Draw(t, "groups") {
			group := fmt.Sprintf("g%03d", i)
			groups = append(groups, group)
			kind := rapid.IntRange(0, 5).Draw(t, "kind")
			if kind == 0 {
				continue // it says nothing of this group
			}
			told := Takes{Partitions: rapid.IntRange(1, 12).Draw(t, "partitions")}
			for first := 0; kind == 1 && first < told.Partitions; {
				last := min(first+rapid.IntRange(0, 3).Draw(t, "run"), told.Partitions-1)
				told.Except = append(told.Except, [2]int{first, last})
				first = last + 1 + rapid.IntRange(0, 3).Draw(t, "gap")
			}
			takes[group] = told
		}
		if err := checkTakes("Node.Takes", groups, takes); err != nil {
			t.Fatal(err)
		}
		got := parseTakes(groups, takesText(groups, takes))
		if len(got) != len(takes) || len(takes) > 0 && !reflect.DeepEqual(got, takes) {
			t.Fatalf("%v became %v by %q", takes, got, takesText(groups, takes))
		}
	})
}

// A hundred groups of one size, and as many partitions excluded in a row, take a few bytes of the row
// that every node reads in every round.
func TestTakesTextIsShort(t *testing.T) {
	var groups []string
	takes := make(map[string]Takes)
	for i := range 100 {
		groups = append(groups, fmt.Sprint("group", i))
		takes[groups[i]] = Takes{Partitions: 1000, Except: [][2]int{{100, 199}}}
	}
	if text := takesText(sortedSet(groups), takes); text != "1000!100-199*100" {
		t.Errorf("%q", text)
	}
}

// Text of any other kind says nothing, and nothing else of the row is lost by it.
func TestTakesTextOfAnotherKind(t *testing.T) {
	groups := []string{"a", "b", "c"}
	for _, text := range []string{
		"1", "1 2", "1 2 3 4", "1*4", "1*2", "1*-1 2 3", "1*x 2", "x*3", "0*3", "-1*3", "+1*3", "1!1*3", "5!3-2*3", "5!2,1*3", "5!1,1*3",
		"5!*3", "5!1-*3", "5!0-5*3", "1  2 3", " 1 2 3", "99999999999999999999*3", "1*3 ", "?*4", "5;w*3", "9!1-3,3*3",
	} {
		if got := parseTakes(groups, text); got != nil {
			t.Errorf("%q says %v", text, got)
		}
	}
	if got := parseTakes(groups, "5!0,2-4 ?*2"); !reflect.DeepEqual(got, map[string]Takes{"a": {5, [][2]int{{0, 0}, {2, 4}}}}) {
		t.Errorf("%v", got)
	}
}

// What no row can say is refused, by the name of the argument.
func TestTakesArguments(t *testing.T) {
	many := Takes{Partitions: 1_000_000}
	for i := range 4000 {
		many.Except = append(many.Except, [2]int{2 * i, 2 * i})
	}
	for field, takes := range map[string]map[string]Takes{
		`Node.Takes["other"]`:             {"other": {Partitions: 1}},
		`Node.Takes["orders"].Partitions`: {"orders": {}},
		`Node.Takes["orders"].Except`:     {"orders": {Partitions: 5, Except: [][2]int{{3, 4}, {4, 4}}}},
		`Node.Takes`:                      {"orders": many},
	} {
		err := Node{Service: "s", Name: "n", Address: "a", Groups: []string{"orders"}, Takes: takes}.Validate()
		if argument, ok := err.(*ArgumentError); !ok || argument.Argument != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, except := range [][2]int{{-1, 0}, {2, 1}, {5, 5}, {0, 5}} {
		if err := checkTakes("Node.Takes", []string{"orders"}, map[string]Takes{"orders": {5, [][2]int{except}}}); err == nil {
			t.Errorf("%v is accepted", except)
		}
	}
}
