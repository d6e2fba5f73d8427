package bench

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

var (
	changesFile   = flag.String(changesFlag, "", "measure the changes of a fleet and write their figures to this file")
	changesOfSize = flag.String(changesSize, "", "the fleet, as JSON")
)

// Each change ends with even shares, and its figures are of it alone.
func TestChanges(t *testing.T) {
	l := remembering(t)
	spec := changesSpec{Nodes: 3, Partitions: 30, TTL: 10 * time.Second, Fleets: 1, Cycles: 1, Deployments: 1}
	if *changesOfSize != "" {
		if err := json.Unmarshal([]byte(*changesOfSize), &spec); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		d := drill{connect: l.server.VirtualTransport, options: func(o *dynamolease.Options) {
			o.Elapsed = func() (atLeast, atMost time.Duration) { return time.Since(begun), time.Since(begun) }
		}}
		rows, err := l.changes(context.Background(), spec, d, func(s *sample) {
			t.Logf("%s: even after %.2f s, %d moves, %d more than would do, %.0f read units", s.event, s.over, s.moves, s.moves-s.least, s.used.ReadUnits)
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range changesTables(rows) {
			_ = table.print(t.Output())
		}
		if *changesFile == "" {
			return
		}
		figures, err := json.Marshal(rows)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(*changesFile, figures, 0o644); err != nil {
			t.Fatal(err)
		}
	})
}

// remembering is a lab whose answers come by way of a [memo].
func remembering(t *testing.T) *lab {
	t.Helper()
	m, err := startMemo(startLab(t).server.Endpoint())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.close(); err != nil {
			t.Error(err)
		}
	})
	t.Setenv("DYNAMODB_ENDPOINT", m.url)
	return startLab(t)
}
