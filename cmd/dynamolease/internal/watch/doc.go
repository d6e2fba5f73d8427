// Package watch shows members of a service, partitions by owner, and moves, until the user has seen
// enough.
package watch
