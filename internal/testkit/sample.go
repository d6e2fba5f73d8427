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
	if hash(t.Name())%3 != 0 {
		t.Skip("runs without -short")
	}
}

// Some returns all of a list, and with -short one of it. Which one that is depends on the test's name
// alone.
func Some[T any](t *testing.T, list ...T) []T {
	t.Helper()
	if !testing.Short() {
		return list
	}
	i := int(hash(t.Name()) / 3 % uint32(len(list)))
	return list[i : i+1]
}

func hash(text string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text)) // never fails
	return h.Sum32()
}

// Size returns how much a test does: with -short, or without.
func Size[T any](short, full T) T {
	if testing.Short() {
		return short
	}
	return full
}
