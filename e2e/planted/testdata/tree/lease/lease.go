// Package lease is a library as small as can be.
package lease

// Expired tells whether a lease until exp is over.
func Expired(exp, now int64) bool {
	return now >= exp
}

// Epoch is the next one.
func Epoch(last int64) int64 {
	return last + 1
}
