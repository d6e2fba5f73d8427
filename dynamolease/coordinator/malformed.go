package coordinator

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dynamolease/dynamolease/dynamolease"
	rows "github.com/dynamolease/dynamolease/internal/malformed"
)

// legible tells whether all went well but for rows that are malformed: such an error comes with what could be read.
func legible(err error) bool {
	switch e := err.(type) {
	case nil, *dynamolease.RowError:
		return true
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(part error) bool { return !legible(part) })
	case interface{ Unwrap() error }:
		return e.Unwrap() != nil && legible(e.Unwrap())
	}
	return false
}

// malformed are the partitions whose rows an error names. What is the matter with them is for a person to find out. Until
// then they are nobody's to take, and whoever works them goes on: the others of the group are planned without them.
func malformed(err error) map[int]bool {
	partitions := make(map[int]bool)
	for _, row := range rows.Rows(err) {
		if number, is := strings.CutPrefix(row.SK, "P#"); is {
			if partition, err := strconv.Atoi(number); err == nil {
				partitions[partition] = true
			}
		}
	}
	return partitions
}
