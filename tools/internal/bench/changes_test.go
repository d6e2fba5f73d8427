package bench

import (
	"context"
	"encoding/json"
	"errors"
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
	spec := changesSpec{Nodes: 3, Partitions: 30, TTL: 10 * time.Second, Fleets: 2, Cycles: 1, Deployments: 1}
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
		rows, err := l.changes(context.Background(), spec, d, func(s *sample, soFar []changeRow) error {
			t.Logf("%s: even after %.2f s, %d moves, %d more than would do, %.0f read units in %.0f s",
				s.event, s.over, s.moves, s.moves-s.least, s.used.ReadUnits, s.window)
			if *changesFile == "" {
				return nil
			}
			figures, err := json.Marshal(soFar)
			return errors.Join(err, os.WriteFile(*changesFile, figures, 0o644))
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range changesTables(rows) {
			_ = table.print(t.Output())
		}
		if *changesFile == "" {
			checkChanges(t, spec, rows)
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

// checkChanges checks figures of which it is known what they have to be.
func checkChanges(t *testing.T, spec changesSpec, rows []changeRow) {
	t.Helper()
	times := map[string]int{"start at once": 1, "start in 1s": 1, noChange: 2, "crash": 2, "join": 4, "stop": 2, "deployment": 1}
	for _, r := range rows {
		if r.Nodes != spec.Nodes || r.Partitions != spec.Partitions || r.TTL != spec.TTL.Seconds() || r.Times != times[r.Event] {
			t.Errorf("%+v", r)
		}
		delete(times, r.Event)
		if r.Unfinished != 0 || r.Window < windowTTLs*r.TTL-1 || r.Conflicts != 0 || r.Throttled != 0 {
			t.Errorf("%s: %+v", r.Event, r)
		}
		// In each round a node sends a heartbeat and reads the members.
		if quiet := float64(spec.Nodes-1) * r.Window / (r.TTL / roundsPerTTL) * 0.8; r.WriteUnits < quiet || r.ReadUnits < quiet || r.Requests < 2*quiet {
			t.Errorf("%s: %+v in %v s", r.Event, r.usage, r.Window)
		}
		if r.Event == noChange {
			if r.Moves != 0 || r.Looks.Mean > 0.5 || r.Worked != (durations{}) || r.PeakReadUnits < 1 {
				t.Errorf("no change: %+v", r)
			}
			continue
		}
		least := map[string]int{"start at once": 30, "start in 1s": 30, "deployment": 10 * (7 + 7)}[r.Event]
		if r.Moves < float64(max(least, 7)) || r.Moves-r.Beyond > 200 || r.Beyond < 0 || r.Looks.Most < 1 || r.Looks.Mean > r.Looks.Most {
			t.Errorf("%s: %+v", r.Event, r)
		}
		for _, d := range []durations{r.Worked, r.Idle, r.Over} {
			if d.P50 < 0 || d.P99 < d.P50 || d.Max < d.P99 || d.Max == 0 || d.Max > r.Window {
				t.Errorf("%s: %+v", r.Event, r)
			}
		}
		if r.Event == "crash" && (r.Worked != r.Idle || r.Worked.P50 < r.TTL/2) {
			t.Errorf("crash: worked %+v, idle %+v", r.Worked, r.Idle)
		}
	}
	if len(times) != 0 {
		t.Errorf("not measured: %v", times)
	}
}
