// Package settings reads from the environment how much of the proof to run, and from which seed.
package settings

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

// Long reports whether this is the long run: PROOF_LONG=1.
func Long() bool { return os.Getenv("PROOF_LONG") == "1" }

// Seed returns the seed that the environment and the clock give: see [SeedOf]. It ends the test if
// PROOF_SEED is not a number.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed, err := SeedOf(os.Getenv, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return seed
}

// SeedOf returns PROOF_SEED. If that is empty, it returns the time of the clock in the long run,
// and 1 in the short run.
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
