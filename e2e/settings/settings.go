// Package settings reads from the environment how much of the proof is run, and from which seed.
package settings

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// Long tells whether it is the long run: PROOF_LONG=1.
func Long() bool { return os.Getenv("PROOF_LONG") == "1" }

// Seed is PROOF_SEED, or else the clock's in the long run and 1 in the short one.
func Seed(t testing.TB) uint64 {
	t.Helper()
	text := os.Getenv("PROOF_SEED")
	switch {
	case text != "":
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("PROOF_SEED must be a number: %v", err)
		}
		return seed
	case Long():
		return uint64(time.Now().UnixNano())
	default:
		return 1
	}
}
