// Package watch shows who works what in a service, for as long as somebody looks: members, partitions by owner, and moves as they
// happen.
package watch
