package demo

import (
	"fmt"
	"slices"
	"testing"
	"testing/fstest"
)

func TestGoFiles(t *testing.T) {
	input := fstest.MapFS{
		"b.go":               {},
		"a/a.go":             {},
		"a/a_test.go":        {},
		"a/testdata/t.go":    {},
		"a/notes.txt":        {},
		"a/folder.go/c.go":   {},
		"a/folder.go/c.go.s": {},
		"go":                 {},
	}
	got, err := goFiles(input)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a/a.go", "a/a_test.go", "a/folder.go/c.go", "a/testdata/t.go", "b.go"}
	if !slices.Equal(got, want) {
		t.Errorf("goFiles = %q, want %q", got, want)
	}
}

func TestSplitIsComplete(t *testing.T) {
	var files []string
	for i := range 1000 {
		files = append(files, fmt.Sprintf("dir%d/file%d.go", i%7, i))
	}
	var got []string
	for p, part := range split(files) {
		if len(part) == 0 {
			t.Errorf("partition %d of %d files is empty", p, len(files))
		}
		got = append(got, part...)
	}
	slices.Sort(files)
	slices.Sort(got)
	if !slices.Equal(got, files) {
		t.Errorf("the partitions hold %d files, want each of the %d once", len(got), len(files))
	}
}

// A file must fall into the same partition in every process and version.
func TestSplitIsStable(t *testing.T) {
	for name, want := range map[string]int{"": 5, "fmt/print.go": 16, "net/http/server.go": 11} {
		if got := partitionOf(name); got != want {
			t.Errorf("partitionOf(%q) = %d, want %d", name, got, want)
		}
	}
}
