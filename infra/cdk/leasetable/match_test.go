package leasetable_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
)

type (
	object = map[string]any
	list   = []any
)

// differences lists where got does not have what want has. Objects may have more members than want.
func differences(at string, got, want any) []string {
	switch want := want.(type) {
	case object:
		members, _ := got.(object)
		var found []string
		for _, name := range slices.Sorted(maps.Keys(want)) {
			found = append(found, differences(at+"."+name, members[name], want[name])...)
		}
		return found
	case list:
		elements, _ := got.(list)
		if len(elements) != len(want) {
			return []string{fmt.Sprintf("%s is %v, want %d elements", at, got, len(want))}
		}
		var found []string
		for i := range want {
			found = append(found, differences(fmt.Sprintf("%s[%d]", at, i), elements[i], want[i])...)
		}
		return found
	case int:
		return differences(at, got, float64(want)) // as JSON has it
	}
	if !reflect.DeepEqual(got, want) {
		return []string{fmt.Sprintf("%s is %v, want %v", at, got, want)}
	}
	return nil
}

// expect compares the one resource of a type.
func (l *lab) expect(kind string, want object) {
	l.Helper()
	for _, d := range differences(kind, l.only(kind), want) {
		l.Error(d)
	}
}
