package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A bug is a mistake that the command can plant.
type bug struct {
	name   string
	what   string   // the mistake, in a sentence
	breaks []string // the numbers of the promises that it breaks
	catch  []catcher
	edits  []edit
}

// A catcher names tests that are likely to catch a bug.
type catcher struct {
	suite string
	tests string // a pattern for go test -run; empty for the whole suite
}

// An edit replaces a piece of a file's text.
type edit struct {
	file     string // relative to the root of the tree, with slashes
	old, new string
}

// readBugs reads the bugs in a folder whose names match, in the order of their names.
func readBugs(dir string, names *regexp.Regexp) ([]bug, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.bug"))
	if err != nil {
		return nil, err
	}
	var bugs []bug
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".bug")
		if !names.MatchString(name) {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read a bug: %w", err)
		}
		b, err := parseBug(name, string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		bugs = append(bugs, b)
	}
	if len(bugs) == 0 {
		return nil, fmt.Errorf("no bug in %s matches %q", dir, names)
	}
	return bugs, nil
}

// parseBug reads the text of a bug's file: fields, one on each line, then an empty line, then
// edits.
//
//	what: the mistake
//	breaks: LS4, LS32
//	catch: history
//	catch: dynamolease TestRenew|TestRelease
//
//	--- dynamolease/renew.go
//	text that the file contains exactly once
//	+++
//	text that replaces it
func parseBug(name, text string) (bug, error) {
	b := bug{name: name}
	fields, edits, _ := strings.Cut(text, "\n\n")
	for line := range strings.Lines(fields) {
		field, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch field {
		case "what":
			b.what = value
		case "breaks":
			b.breaks = strings.Split(value, ", ")
		case "catch":
			suite, tests, _ := strings.Cut(value, " ")
			b.catch = append(b.catch, catcher{suite, tests})
		default:
			return b, fmt.Errorf("a line begins with %q; the fields are what, breaks and catch", field)
		}
	}
	var err error
	if b.edits, err = parseEdits(edits); err != nil {
		return b, err
	}
	if b.what == "" || len(b.breaks) == 0 || len(b.catch) == 0 || len(b.edits) == 0 {
		return b, fmt.Errorf("a bug needs the fields what, breaks and catch, and an edit")
	}
	return b, nil
}

func parseEdits(text string) ([]edit, error) {
	var edits []edit
	for part := range strings.SplitSeq("\n"+strings.TrimSuffix(text, "\n"), "\n--- ") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		file, change, _ := strings.Cut(part, "\n")
		old, new, ok := strings.Cut(change+"\n", "\n+++\n")
		if !ok || strings.TrimSpace(old) == "" {
			return nil, fmt.Errorf("the edit of %s has no text before a line +++", file)
		}
		edits = append(edits, edit{file, old, strings.TrimRight(new, "\n")})
	}
	return edits, nil
}

// files returns the files that the bug changes.
func (b bug) files() []string {
	var files []string
	for _, e := range b.edits {
		if !slices.Contains(files, e.file) {
			files = append(files, e.file)
		}
	}
	return files
}
