package dynamolease

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrUnknownOutcome is returned when a write was sent and nothing tells whether it was applied: every answer was lost,
// or the context ended before one came. It never means "lost" or "not acquired". Calling again is safe and finds out.
var ErrUnknownOutcome = errors.New("outcome unknown: the write may have been applied")

// ErrEarlierApplied is returned when earlier work under the same lease, whose outcome was unknown when it ended, turns out
// to have been applied. The work of this call was not written: it may be the same again, or rest on what was believed
// before. Go on from what [Store.Resume] returns.
var ErrEarlierApplied = errors.New("earlier work under the lease, whose outcome was unknown, was applied after all")

// An ArgumentError is returned when an argument or option cannot be used. No request was made.
type ArgumentError struct {
	Argument string // the parameter or the field of [Options]
	Problem  string // what is wrong with it, and what is allowed
}

func (e *ArgumentError) Error() string { return e.Argument + " " + e.Problem }

// A RowError is returned when a row of the table is not one that this library writes: an attribute is missing, of
// another type, or out of range. Such a row is never taken for a free lease; look at it, and delete it if nothing
// needs it.
type RowError struct {
	PK, SK    string // the key of the row
	Attribute string
	Problem   string
}

func (e *RowError) Error() string {
	return fmt.Sprintf("malformed row %s / %s: attribute %q %s", e.PK, e.SK, e.Attribute, e.Problem)
}

// Partition returns the group and the partition of the lease that the row keeps. It reports false for the row of a member
// or a session, and for one whose key is not that of a lease.
func (e *RowError) Partition() (group string, partition int, ok bool) {
	group, isLease := strings.CutPrefix(e.PK, leasePrefix)
	digits, isPartition := strings.CutPrefix(e.SK, "P#")
	n, err := strconv.ParseUint(digits, 10, 63) // takes digits only
	if !isLease || group == "" || !isPartition || len(e.SK) != partitionLen || err != nil {
		return "", 0, false
	}
	return group, int(n), true
}

// RowErrors returns every RowError that err wraps, in order, and reports whether err is about malformed rows alone: a call
// that returns such an error also returns what it could read, renew or release. A nil error has no rows, and true.
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

// A SetupError is returned when the table or the permissions are not as the store needs them. It wraps the SDK's error
// where there is one.
type SetupError struct {
	Table   string
	Problem string // what is missing or wrong
	Remedy  string // what to do about it
	Err     error  // the SDK's error, or nil
}

func (e *SetupError) Error() string {
	text := fmt.Sprintf("table %q: %s; %s", e.Table, e.Problem, e.Remedy)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *SetupError) Unwrap() error { return e.Err }
