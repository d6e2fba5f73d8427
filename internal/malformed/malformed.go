// Package malformed finds the rows that an error is about.
package malformed

import "github.com/dynamolease/dynamolease/dynamolease"

// Rows are all rows that an error names as malformed, in its order.
func Rows(err error) (rows []*dynamolease.RowError) {
	switch e := err.(type) {
	case *dynamolease.RowError:
		return []*dynamolease.RowError{e}
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			rows = append(rows, Rows(part)...)
		}
	case interface{ Unwrap() error }:
		return Rows(e.Unwrap())
	}
	return rows
}
