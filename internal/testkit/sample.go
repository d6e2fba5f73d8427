package testkit

import (
	"hash/fnv"
	"testing"
)

// Sample skips t in a run with -short, unless it is one of the third of all cases that such a run has. Which ones these are
// depends on the test's name alone.
//
// It is for tables of each operation and each fault, of which a full run has thousands of cases.
func Sample(t *testing.T) {
	t.Helper()
	if !testing.Short() {
		return
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(t.Name()))
	if h.Sum32()%3 != 0 {
		t.Skip("runs without -short")
	}
}

// Size returns how much a test does: with -short, or without.
func Size[T any](short, full T) T {
	if testing.Short() {
		return short
	}
	return full
}
