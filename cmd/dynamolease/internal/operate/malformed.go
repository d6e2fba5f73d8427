package operate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// mostNamed bounds how many malformed rows are named.
const mostNamed = 10

// Malformed returns the names of the first ten malformed rows if err is about such rows alone, and
// no error then. It returns any other error as it is.
func Malformed(err error) (rows []string, other error) {
	found, only := dynamolease.RowErrors(err)
	if !only {
		return nil, err
	}
	for _, row := range found[:min(len(found), mostNamed)] {
		rows = append(rows, row.Error())
	}
	return rows, nil
}

// Merge adds the malformed rows of another read, without repeating rows that were read twice.
func Merge(rows, more []string) []string {
	for _, row := range more {
		if !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
	}
	return rows
}

// leftOut lists malformed rows, a line for each.
func leftOut(rows []string) string {
	var b strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&b, "left out: %s\n", Printable(row))
	}
	return b.String()
}
