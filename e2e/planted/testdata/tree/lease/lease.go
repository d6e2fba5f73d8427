// Package lease is a very small library.
package lease

// Expired reports whether a lease until exp is over.
func Expired(exp, now int64) bool {
	return now >= exp
}

// Epoch returns the epoch after last.
func Epoch(last int64) int64 {
	return last + 1
}
