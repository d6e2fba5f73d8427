//go:build linux

package chaos

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/e2e/settings"
)

// The driver kills, stops and cuts off processes, and kills the database. No two holders of one
// lease overlap, and the workers write each item once.
func TestChaos(t *testing.T) {
	runtime.LockOSThread() // the processes end with this thread
	defer runtime.UnlockOSThread()
	d := newDriver(t, settings.Seed(t))
	defer d.close()
	if err := d.run(); err != nil {
		t.Fatalf("seed %d: %v", d.figures.Seed, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	e, err := d.evidence(ctx)
	if err != nil {
		t.Fatal(err)
	}
	v := judge(e)
	d.figures.Records, d.figures.Overlaps, d.figures.Violations = len(e.events), v.overlaps, len(v.violations)
	if err := d.figures.write(); err != nil {
		t.Error(err)
	}
	for _, violation := range v.violations {
		t.Errorf("seed %d: %s", d.figures.Seed, violation)
	}
	for p, rows := range e.rows {
		if len(rows) == 0 {
			t.Errorf("no process worked partition %d", p)
		}
	}
	t.Logf("%+v", d.figures)
}

func newDriver(t *testing.T, seed uint64) *driver {
	t.Helper()
	server, err := dynamotest.Start(t.Context(), func(o *dynamotest.Options) { o.Dir = t.TempDir() })
	if errors.Is(err, dynamotest.ErrUnavailable) && os.Getenv("DYNAMODB_REQUIRED") != "1" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	if errors.Is(server.Kill(), dynamotest.ErrNotOurs) {
		t.Skip("this test kills the database, and it cannot: another process started the database")
	}
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "chaos-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the records are in %s", dir)
			return
		}
		_ = os.RemoveAll(dir)
	})
	d := &driver{
		TB: t, random: rand.New(rand.NewPCG(seed, 0)), database: &database{server, server.Table(t)}, dir: dir,
		nodes: make([]*process, workers+boots), figures: figures{Seed: seed},
	}
	address, err := d.database.address()
	if err != nil {
		t.Fatal(err)
	}
	for range d.nodes {
		p, err := newProxy(address)
		if err != nil {
			t.Fatal(err)
		}
		d.proxies = append(d.proxies, p)
	}
	return d
}

// run starts the processes, makes trouble, waits for the recovery, and lets the processes end.
func (d *driver) run() error {
	span, gap := 20*time.Second, 700*time.Millisecond
	if settings.Long() {
		span, gap = 210*time.Second, 400*time.Millisecond
	}
	for i := range d.nodes {
		if err := d.start(i); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(d.Context(), time.Minute)
	defer cancel()
	if err := d.progress(ctx); err != nil {
		return err
	}
	for over := now().add(span); now() < over; {
		if err := d.wait(now().add(gap/2 + d.upTo(gap))); err != nil {
			return err
		}
		if err := d.trouble(); err != nil {
			return err
		}
	}
	if err := d.heal(); err != nil {
		return err
	}
	ctx, cancel = context.WithTimeout(d.Context(), time.Minute)
	defer cancel()
	if err := d.progress(ctx); err != nil {
		return err
	}
	return d.dismiss(ctx)
}
