package operate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// mostNamed is how many rows are named that could not be read.
const mostNamed = 10

// Malformed says which rows could not be read, the first ten of them, and returns no error then: all others could. Any other error
// it returns as it is.
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

// Merge adds what another reading could not read: some rows are read for several reasons.
func Merge(rows, more []string) []string {
	for _, row := range more {
		if !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
	}
	return rows
}

// leftOut says which rows are not in what is shown, a line each.
func leftOut(rows []string) string {
	var b strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&b, "left out: %s\n", Printable(row))
	}
	return b.String()
}
