// Package operate contains the operations of the dynamolease command on a table. The command line
// is elsewhere.
//
// Results are [Report] values, which print as text and encode as JSON.
package operate

import (
	"errors"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A Table is the table of all operations.
type Table struct {
	Name   string
	Client dynamolease.Client
	Store  *dynamolease.Store
}

// A Report is a result. It can also be encoded as JSON.
type Report interface {
	// Text returns the report as whole lines.
	Text() string
}

var (
	// ErrNotFound says that the lease, the node or the service does not exist.
	ErrNotFound = errors.New("not found")

	// ErrPending says that the waiting ended before the order was carried out. The order stands.
	ErrPending = errors.New("not done yet")
)
