package dynamolease

import (
	"fmt"
	"strings"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// A RowError is returned when a row of the table is not one that this library writes: an attribute is
// missing, of another type, or out of range. Such a row is never taken for a free lease; look at it,
// and delete it if nothing needs it.
type RowError struct {
	PK, SK    string // the key of the row
	Attribute string
	Problem   string
}

func (e *RowError) Error() string {
	return fmt.Sprintf("malformed row %s / %s: attribute %q %s", e.PK, e.SK, e.Attribute, e.Problem)
}

// Partition returns the group and the partition of the lease that the row keeps. It reports false for
// the row of a member or a session, and for one whose key is not that of a lease.
func (e *RowError) Partition() (group string, partition int, ok bool) {
	group, isLease := strings.CutPrefix(e.PK, leasePrefix)
	partition, isPartition := partitionOf(rowstore.Key{PK: e.PK, SK: e.SK})
	if !isLease || group == "" || !isPartition {
		return "", 0, false
	}
	return group, partition, true
}

// RowErrors returns every RowError that err wraps, in order, and reports whether err is about malformed
// rows alone: a call that returns such an error also returns what it could read, renew or release. A
// nil error has no rows, and true.
func RowErrors(err error) (rows []*RowError, only bool) {
	switch e := err.(type) {
	case nil:
		return nil, true
	case *RowError:
		return []*RowError{e}, true
	case interface{ Unwrap() []error }:
		only = true
		for _, part := range e.Unwrap() {
			more, alone := RowErrors(part)
			rows, only = append(rows, more...), only && alone
		}
		return rows, only
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return RowErrors(inner)
		}
	}
	return nil, false
}

// decode begins to read a row. Its errors are a [RowError].
func decode(row rowstore.Item) *rowstore.Decoder { return rowstore.Decode(row, malformed) }

func malformed(k rowstore.Key, attribute, problem string) error {
	return &RowError{PK: k.PK, SK: k.SK, Attribute: attribute, Problem: problem}
}
