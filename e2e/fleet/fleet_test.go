package fleet

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/e2e/settings"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

// leastHours is the least number of node-hours in a long run.
const leastHours = 2000

// streams is the number of simulations that run at the same time.
const streams = 2

// Fleets keep the promises CO1 to CO11, CO13, CO14 and CO15 in all events.
func TestFleet(t *testing.T) {
	server := testkit.Server(t)
	total := &figures{Seed: settings.Seed(t), Events: make(map[string]int)}
	runs := 8
	if settings.Long() {
		runs = 10
	}
	seeds := make(chan uint64)
	var running sync.WaitGroup
	for range streams {
		running.Go(func() {
			for seed := range seeds {
				t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
					began := time.Now()
					sum := simulate(t, server, newScript(seed, scaleOf(seed)))
					total.add(sum)
					t.Logf("%.0f node-hours, %d requests, %d moves in %v", sum.hours, sum.requests, sum.moves, time.Since(began).Round(time.Millisecond))
				})
			}
		})
	}
	for i := 0; (i < runs || settings.Long() && total.hours() < leastHours) && !t.Failed(); i++ {
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

// Ten nodes share a thousand partitions for more than an hour, on a table without transactions, and
// keep the promises CO1 to CO11, CO13, CO14 and CO15 in all events.
func TestLargeFleetWithoutTransactions(t *testing.T) {
	if !settings.Long() {
		t.Skip("runs in the long proof")
	}
	for seed := uint64(1); ; seed++ {
		sc := newScript(seed, scale{nodes: 10, kinds: everything(), turns: true})
		if len(sc.first) != 10 || sc.mode != coordinator.Sessions {
			continue
		}
		sc.partitions, sc.hard = 1000, false
		sum := simulate(t, testkit.Server(t), sc)
		if sum.hours < 10 {
			t.Errorf("%.1f node-hours", sum.hours)
		}
		t.Logf("seed %d: %.0f node-hours, %d requests, %d moves, events %v", seed, sum.hours, sum.requests, sum.moves, sum.events)
		return
	}
}

// scaleOf returns the scale of a seed's script. Together the eight seeds of the short run have all
// kinds of events. In some of them other events happen to drained nodes.
func scaleOf(seed uint64) scale {
	kinds := everything()
	if settings.Long() {
		return scale{nodes: 50, steps: 4, kinds: kinds}
	}
	if seed%4 == 0 {
		return scale{nodes: 8, kinds: []kind{drain, restart, revoke, pause, undrain}, turns: true}
	}
	dice(0, "kinds").Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	begin := int(3 * seed % uint64(len(kinds)))
	return scale{nodes: 8, kinds: slices.Concat(kinds, kinds)[begin : begin+6], turns: true}
}

// Two runs of one seed have the same script, and the same requests, gains and losses of partitions
// at the same times. This holds for all kinds of events.
func TestSameSeed(t *testing.T) {
	seed := uint64(0)
	for kinds := range slices.Chunk(everything(), 3) {
		seed++
		t.Run(fmt.Sprint("seed ", seed, kinds), func(t *testing.T) {
			size := scale{nodes: 5, kinds: kinds, turns: true}
			sc := newScript(seed, size)
			if again := newScript(seed, size); again.String() != sc.String() {
				t.Errorf("one seed made two different scripts:\n%s\n%s", sc, again)
			}
			first, second := simulate(t, testkit.Server(t), sc), simulate(t, testkit.Server(t), sc)
			for again := 0; first.digest != second.digest && again < 3; again++ {
				// On a busy machine, goroutines of one node that wake at the same instant sometimes send their
				// requests in another order.
				t.Logf("two runs of one seed have the digests %s and %s", first.digest, second.digest)
				first, second = second, simulate(t, testkit.Server(t), sc)
			}
			if first.digest != second.digest {
				t.Errorf("five runs of one seed are all different: %s, %s", first.digest, second.digest)
			}
			if !slices.Equal(first.decided, second.decided) {
				t.Errorf("two runs of one seed end differently:\n%q\n%q\n%s", first.decided, second.decided, sc)
			}
			if len(first.decided) != len(sc.steps) {
				t.Errorf("the simulation played %d steps of %d", len(first.decided), len(sc.steps))
			}
		})
	}
}
