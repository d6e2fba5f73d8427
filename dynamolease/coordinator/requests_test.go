package coordinator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// The requests of a steady round do not depend on how many leases a node has: one heartbeat and
// one read of the members. With few leases it reads the owners each 10 to 30 rounds, and their
// sessions.
func TestRequests(t *testing.T) {
	t.Parallel()
	sizes := []int{10, 100, 1000, 10_000}
	if !long {
		sizes = sizes[:3]
	}
	for _, partitions := range sizes {
		t.Run(fmt.Sprint("CO15/", partitions), func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a := w.start("a", partitions)
				w.within(2*round, "all owned", func() bool { return w.busy() == partitions })
				began := a.State().Rounds
				for a.State().Rounds < began+11 {
					time.Sleep(interval / 3)
				}
				quiet := 0
				for range 2 {
					quiet += w.tenRounds(a, partitions)
				}
				if quiet < 16 {
					w.Errorf("only %d of 20 rounds without a read of the owners", quiet)
				}
			})
		})
	}
}

// tenRounds counts the requests of ten rounds of the planning loop, and returns how many of them
// read no owners.
func (w *world) tenRounds(a *node, partitions int) (quiet int) {
	w.Helper()
	pages := 1 + partitions/7000
	for range 10 {
		a.path.Reset()
		at := a.State().Rounds
		for a.State().Rounds == at {
			time.Sleep(interval / 30)
		}
		if n := a.path.Count("UpdateItem"); n > 2 { // heartbeats have an interval of their own
			w.Errorf("%d partitions: %d heartbeats in a round", partitions, n)
		}
		switch queries, all := a.path.Count("Query"), a.path.Count("")-a.path.Count("UpdateItem"); {
		case queries != all:
			w.Errorf("%d partitions: requests %v", partitions, a.path.Requests())
		case queries == 1:
			quiet++
		case queries < 2 || queries > 2+pages:
			w.Errorf("%d partitions: %d queries in a round", partitions, queries)
		}
	}
	return quiet
}

// With many leases the owners are read so seldom that it makes no difference what they cost: a
// fleet with a ttl of 10 s and 1,000 leases uses 3.1 read units a second for each ten nodes, at
// the most.
func TestRequestsCO15Resyncs(t *testing.T) {
	if testing.Short() {
		t.Skip("has 2,200 rounds")
	}
	const partitions, rounds = 1000, 2200 // a resync each 1,000 to 2,160 rounds, or in two hours
	inVirtualTime(t, func(w *world) {
		a := w.start("a", partitions, func(c *coordinator.Config) { c.TTL, c.Interval = 10*time.Second, 10*time.Second/3 })
		w.within(10*round, "all owned", func() bool { return w.busy() == partitions })
		time.Sleep(10 * round)
		m := &meter{tb: w}
		stop := a.path.Every("", m.measure)
		for began := a.State().Rounds; a.State().Rounds < began+rounds; {
			time.Sleep(10 * time.Second)
		}
		stop()
		reads, writes := m.units()
		resyncs, dear := reads-rounds, 50.0
		if resyncs < dear-20 || resyncs > 2*dear+10 || writes < rounds*0.95 || writes > rounds*1.05 {
			w.Errorf("%v read units and %v write units in %d rounds", reads, writes, rounds)
		}
		w.Logf("%d rounds of one node with %d leases: %v read units, %v write units", rounds, partitions, reads, writes)
	})
}

// In an hour there are as many heartbeats as rounds, and nothing else but reads.
func TestRequestsCO15Hour(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a := w.start("a", 50)
		w.settle(50, a)
		time.Sleep(20 * round)
		a.path.Reset()
		const span = 200 * interval
		before := a.State().Rounds
		time.Sleep(span)
		rounds := int(a.State().Rounds - before)
		beats, queries := a.path.Count("UpdateItem"), a.path.Count("Query")
		if a.path.Count("") != beats+queries {
			w.Errorf("%d requests, %d heartbeats, %d queries", a.path.Count(""), beats, queries)
		}
		if low, high := int(span/round)-1, int(span/(interval*9/10))+1; beats < low || beats > high {
			w.Errorf("%d heartbeats in %v, want %d to %d", beats, span, low, high)
		}
		// A resync each 50 to 150 rounds.
		if low, high := rounds+rounds/150, rounds+rounds/50+1; queries < low-2 || queries > high {
			w.Errorf("%d queries in %d rounds, want %d to %d", queries, rounds, low, high)
		}
	})
}

// Where each lease has an expiry of its own, up to a hundred are renewed by one request.
func TestRequestsPerLease(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a := w.start("a", 100, inMode(coordinator.PerLease))
		w.settle(100, a)
		a.path.Reset()
		time.Sleep(20 * interval)
		beats, renewals := a.path.Count("UpdateItem"), a.path.Count("TransactWriteItems")
		if beats < 18 || beats > 23 || renewals < beats-1 || renewals > beats+1 {
			w.Errorf("%d heartbeats and %d renewals in 20 rounds", beats, renewals)
		}
	})
}

// C58: all rows of a group are under one partition key, which takes about 1,000 write units a
// second. In sessions a steady group uses none of them, however many leases it has, and when its
// key is throttled nobody loses a lease. Renewed each by itself, it uses two for each lease and
// round: the ceiling is 1,000 x interval / 2 leases for a group.
func TestCasesC58(t *testing.T) {
	const partitions = 250
	inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
		a := w.start("a", partitions, inMode(mode))
		w.settle(partitions, a)
		a.path.Reset()
		time.Sleep(10 * interval)
		units := 0
		for _, request := range a.path.Requests() {
			if request.Op != "Query" && request.Op != "GetItem" {
				units += 2 * strings.Count(string(request.Body), `"S":"L#`+w.group)
			}
		}
		rounds := float64(units) / (2 * partitions)
		switch mode {
		case coordinator.Sessions:
			if units != 0 {
				w.Errorf("%d write units under the group's key, want none", units)
			}
			moves := w.moves()
			heal := a.path.Every("", onRow("L#"+w.group, dynamotest.Throttle()))
			w.always(3*ttl, "kept while the group's key is throttled", func() bool { return w.moves() == moves && w.balanced(partitions, a) })
			heal()
		default:
			if rounds < 9 || rounds > 12 {
				w.Errorf("%d write units in ten rounds, want 2 for each lease and round", units)
			}
		}
	})
}
