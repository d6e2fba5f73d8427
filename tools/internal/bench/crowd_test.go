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

var crowdFile = flag.String(crowdFlag, "", "measure a large crowd and write its figures to this file")

// A crowd in virtual time, so that the times are those of an idle machine: nobody loses a lease, and
// the leases of a node that crashed are taken in time.
func TestCrowd(t *testing.T) {
	l := startLab(t)
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		c := largeCrowd
		if *crowdFile == "" {
			c.partitions, c.takers, c.kept, c.span = 40, 3, 10, 20*time.Second
		}
		c.connect = l.server.VirtualTransport
		c.options = func(o *dynamolease.Options) {
			o.Elapsed = func() (atLeast, atMost time.Duration) { return time.Since(begun), time.Since(begun) }
		}
		report, err := l.measure(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range report.tables() {
			_ = table.print(t.Output())
		}
		if *crowdFile != "" {
			figures, err := json.Marshal(report)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(*crowdFile, figures, 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		if r := report.Crash; r.Leases < c.partitions/2 || r.Median <= 0 || r.Last < r.Median || r.Last > r.Target || r.WriteUnits < float64(r.Leases) {
			t.Errorf("crash: %+v", r)
		}
		for _, k := range report.Keepers {
			if k.Lost > 0 || k.Renewals < 5 || k.Checkpoints < 2*c.kept*int(c.span/time.Second)/2 || k.Requests < float64(k.Checkpoints) {
				t.Errorf("keepers: %+v", k)
			}
		}
	})
}
