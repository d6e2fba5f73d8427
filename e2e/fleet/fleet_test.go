package fleet

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/internal/testkit"
)

// leastHours is how many node-hours a long run simulates at least.
const leastHours = 2000

// streams is how many simulations run at the same time.
const streams = 2

// Fleets live through everything, and keep what CO1 to CO11, CO13, CO14 and CO15 promise.
func TestFleet(t *testing.T) {
	server := testkit.Server(t)
	total := &figures{Seed: seedOf(t), Events: make(map[string]int)}
	runs, size := 8, scale{nodes: 8, steps: 4, kinds: everything()}
	if long() {
		runs, size = 10, scale{nodes: 50, steps: 4, kinds: everything()}
	}
	seeds := make(chan uint64)
	var running sync.WaitGroup
	for range streams {
		running.Go(func() {
			for seed := range seeds {
				t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
					began := time.Now()
					sum := simulate(t, server, newScript(seed, size))
					total.add(sum)
					t.Logf("%.0f node-hours, %d requests, %d moves in %v", sum.hours, sum.requests, sum.moves, time.Since(began).Round(time.Millisecond))
				})
			}
		})
	}
	for i := 0; (i < runs || long() && total.hours() < leastHours) && !t.Failed(); i++ {
		seeds <- total.Seed + uint64(i)
	}
	close(seeds)
	running.Wait()
	if err := total.write(); err != nil {
		t.Error(err)
	}
	t.Logf("%d runs, %.0f node-hours, %d requests, %d moves, events %v, seed %d",
		total.Runs, total.NodeHours, total.Requests, total.Moves, total.Events, total.Seed)
}

// The same seed comes to the same: the script, who has how many partitions after each event, and how many have moved until
// then. Nothing of that may depend on how rounds of nodes fall, which the library spreads at random; which partition
// a node has may. Events that others can learn of in two ways (a restart under the same name) or that everybody lives
// through by itself (an outage) are left out: there it does depend.
func TestSameSeed(t *testing.T) {
	announced := scale{nodes: 8, steps: 3, kinds: everything()}
	for seed := uint64(1); seed <= 3; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			sc := newScript(seed, announced)
			if again := newScript(seed, announced); again.String() != sc.String() {
				t.Errorf("two scripts of one seed:\n%s\n%s", sc, again)
			}
			first, second := simulate(t, testkit.Server(t), sc), simulate(t, testkit.Server(t), sc)
			if first.digest != second.digest {
				t.Errorf("two runs of one seed have the digests %s and %s", first.digest, second.digest)
			}
			if !slices.Equal(first.decided, second.decided) {
				t.Errorf("two runs of one seed came to\n%q\n%q\n%s", first.decided, second.decided, sc)
			}
			if len(first.decided) != len(sc.steps) {
				t.Errorf("%d steps were played of %d", len(first.decided), len(sc.steps))
			}
		})
	}
}

func long() bool { return os.Getenv("PROOF_LONG") == "1" }

func seedOf(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("PROOF_SEED")
	switch {
	case text != "":
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("PROOF_SEED must be a number: %v", err)
		}
		return seed
	case long():
		return uint64(time.Now().UnixNano())
	default:
		return 1
	}
}
