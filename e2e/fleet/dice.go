package fleet

import (
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// dice makes the random choices for one purpose. Each purpose of a seed has separate dice, so that
// one more throw for one does not change the others.
func dice(seed uint64, purpose string) *rand.Rand {
	return rand.New(rand.NewPCG(seed, hashOf(purpose)))
}

func hashOf(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text)) // never fails
	return h.Sum64()
}

// between returns a duration from low up to high.
func between(r *rand.Rand, low, high time.Duration) time.Duration {
	return low + time.Duration(r.Int64N(int64(high-low)+1))
}

// one returns one of the choices.
func one[T any](r *rand.Rand, choices ...T) T { return choices[r.IntN(len(choices))] }
