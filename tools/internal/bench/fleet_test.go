package bench

import (
	"context"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// What a round of each way uses, of so many leases on ten nodes. In sessions it does not depend on
// them; the owners are read by each node, with their sessions.
func TestRounds(t *testing.T) {
	b := &bench{lab: startLab(t), rounds: 2, limit: time.Second, fleets: []int{10, 120}, match: regexp.MustCompile("^Round"), progress: io.Discard}
	r, err := b.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ownersUnits := map[int]float64{10: 2 * 10, 120: 7 * 10} // with one of the sessions
	resyncEach := map[int]float64{10: 20, 120: 240}         // rounds, in the mean
	for _, leases := range b.fleets {
		n := float64(leases)
		want := map[string]usage{
			quietRound:     {Requests: 20, ReadUnits: 10, WriteUnits: 10},
			resyncRound:    {Requests: 40, ReadUnits: 10 + ownersUnits[leases], WriteUnits: 10},
			sessionMean:    {Requests: 20 + 20/resyncEach[leases], ReadUnits: 10 + ownersUnits[leases]/resyncEach[leases], WriteUnits: 10},
			"transactions": {Requests: 10, WriteUnits: 2 * n},
			"each item":    {Requests: n, WriteUnits: n},
			ways[4].name:   {Requests: n, WriteUnits: n},
			ways[5].name:   {Requests: 2 * n, ReadUnits: n, WriteUnits: n},
		}
		for _, row := range r.Rounds {
			if row.Leases != leases {
				continue
			}
			if !row.usage.near(want[row.Way]) {
				t.Errorf("%d leases, %s: %+v, want %+v", leases, row.Way, row.usage, want[row.Way])
			}
			if row.Way != sessionMean && (len(row.Times) != 3 || row.Times[0].Millis <= 0 || row.Times[2].Rounds < 1) {
				t.Errorf("%d leases, %s: times %+v", leases, row.Way, row.Times)
			}
			if want := row.WriteUnits * 0.3; math.Abs(row.WriteRate-want) > 1e-9 {
				t.Errorf("%d leases, %s: %v write units a second, want %v", leases, row.Way, row.WriteRate, want)
			}
			delete(want, row.Way)
		}
		for way := range want {
			t.Errorf("%d leases: %s was not measured", leases, way)
		}
	}
}

// near allows for the rounding of a mean.
func (u usage) near(other usage) bool {
	return math.Abs(u.Requests-other.Requests)+math.Abs(u.ReadUnits-other.ReadUnits)+math.Abs(u.WriteUnits-other.WriteUnits) < 1e-9
}

// What was made up for a resync is as the library writes it: the units of the owners depend on that.
func TestSessionLease(t *testing.T) {
	l := startLab(t)
	f := &fleet{party: l.party(l.client()), leases: 10}
	defer f.close()
	store, err := f.store(dynamolease.Transactions)
	if err != nil {
		t.Fatal(err)
	}
	session, err := store.OpenSession(t.Context(), dynamolease.Node{Service: f.service, Name: nodeName(0), Address: address, Groups: groups}, ttl)
	if err != nil {
		t.Fatal(err)
	}
	if _, acquired, err := session.Acquire(t.Context(), f.group, 3); err != nil || !acquired {
		t.Fatal(acquired, err)
	}
	out, err := f.client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &f.table, Key: key("L#"+f.group, partitionKey(3)), ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	written, made := slices.Sorted(maps.Keys(out.Item)), slices.Sorted(maps.Keys(f.sessionLease(3, session)))
	if !slices.Equal(written, made) {
		t.Errorf("the library writes %v, the benchmark %v", written, made)
	}
}

func TestShares(t *testing.T) {
	for _, leases := range []int{10, 25, 1000} {
		f := &fleet{leases: leases}
		for node := range fleetNodes {
			for _, partition := range f.share(node) {
				if got := f.ownerOf(partition); got != nodeName(node) {
					t.Errorf("%d leases: %d is in the share of %s, and %s owns it", leases, partition, nodeName(node), got)
				}
			}
		}
	}
}

// Partitions run elsewhere after a stop and after a crash. In virtual time, and so the times are
// those of an idle machine.
func TestTakeover(t *testing.T) {
	l := startLab(t)
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		d := l.drill()
		d.fleets, d.connect = 2, l.server.VirtualTransport
		d.options = func(o *dynamolease.Options) {
			o.Elapsed = func() (atLeast, atMost time.Duration) { return time.Since(begun), time.Since(begun) }
		}
		b := &bench{lab: l, drill: d, match: regexp.MustCompile("^" + takeoverName), progress: io.Discard}
		r, err := b.run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Takeovers) != 2 || r.Takeovers[0].Event != "crash" || r.Takeovers[1].Event != "stop" {
			t.Fatalf("take-overs: %+v", r.Takeovers)
		}
		for _, row := range r.Takeovers {
			if len(row.Seconds) != 2 || row.Seconds[0] <= 0 || row.Seconds[1] < row.Seconds[0] {
				t.Errorf("%s: %v", row.Event, row.Seconds)
			}
		}
	})
}

func TestParsePlan(t *testing.T) {
	rows, err := parsePlan("goos: linux\nBenchmarkPlanSizes/steady/100-2   \t  1000\t   1500 ns/op\t  64 B/op\t   3 allocs/op\n" +
		"BenchmarkPlanSizes/join/100000   \t  10\t   2e6 ns/op\t  64 B/op\t   3 allocs/op\nPASS\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []planRow{{"steady", 100, 1.5, 64, 3}, {"join", 100_000, 2000, 64, 3}}
	if !slices.Equal(rows, want) {
		t.Errorf("%+v, want %+v", rows, want)
	}
	if _, err := parsePlan("PASS\n"); err == nil {
		t.Error("no results are no error")
	}
}

func TestDollars(t *testing.T) {
	// A thousand leases, each written once a second: 2.628 billion write units in 730 hours.
	if got, want := dollars(0, 1000), 1642.5; math.Abs(got-want) > 0.01 {
		t.Errorf("a thousand writes a second cost %v, want %v", got, want)
	}
	if got, want := dollars(1000, 0), 328.5; math.Abs(got-want) > 0.01 {
		t.Errorf("a thousand reads a second cost %v, want %v", got, want)
	}
}
