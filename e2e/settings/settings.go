// Package settings reads from the environment how much of the proof is run, and from which seed.
package settings

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

// Long tells whether it is the long run: PROOF_LONG=1.
func Long() bool { return os.Getenv("PROOF_LONG") == "1" }

// Seed is [SeedOf] the environment.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed, err := SeedOf(os.Getenv, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return seed
}

// SeedOf is PROOF_SEED, or else the clock's in the long run and 1 in the short one.
func SeedOf(env func(string) string, now time.Time) (uint64, error) {
	text := env("PROOF_SEED")
	switch {
	case text != "":
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("PROOF_SEED must be a whole number: %w", err)
		}
		return seed, nil
	case env("PROOF_LONG") == "1":
		return uint64(now.UnixNano()), nil
	default:
		return 1, nil
	}
}
