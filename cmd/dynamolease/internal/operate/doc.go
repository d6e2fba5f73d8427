// Package operate is what the dynamolease command does to a table and reads from it, apart from how it is asked to.
//
// What is found comes back as a [Report], which can be printed for people and encoded as JSON.
package operate

import (
	"errors"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A Table is a table to operate on.
type Table struct {
	Name   string
	Client dynamolease.Client
	Store  *dynamolease.Store
}

// A Report is what was found, which can be encoded as JSON too.
type Report interface {
	// Text is the report for people, in whole lines.
	Text() string
}

var (
	// ErrNotFound is returned when what was asked for is not there: nobody holds the lease, nothing is known of the node.
	ErrNotFound = errors.New("not found")

	// ErrPending is returned when what was ordered was not done yet when the waiting ended. The order stands.
	ErrPending = errors.New("not done yet")
)
