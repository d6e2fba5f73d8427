package coordinator_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// busyMachine is what a machine that does other things may add to what takes real time.
const busyMachine = 10 * time.Second

// A process is killed: another node works what it had, under greater epochs, within its ttl, what
// the store's clock is uncertain by, and a round.
func TestProcess(t *testing.T) {
	t.Parallel()
	for _, mode := range []coordinator.LeaseMode{coordinator.Sessions, coordinator.PerLease} {
		t.Run(fmt.Sprint("CO3/mode ", mode), func(t *testing.T) { killed(t, mode) })
	}
}

func killed(t *testing.T, mode coordinator.LeaseMode) {
	t.Parallel()
	s := startServer(t)
	table := s.Table(t)
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childTable+"="+table, fmt.Sprint(childMode, "=", int(mode)), "DYNAMODB_ENDPOINT="+s.Endpoint())
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = child.Process.Kill() }()
	lines := bufio.NewScanner(out)
	epochs := make(map[int]int64)
	for len(epochs) < childPartitions {
		var partition int
		var epoch int64
		if !lines.Scan() {
			t.Fatal("the child has ended")
		}
		if _, err := fmt.Sscanf(lines.Text(), "works %d %d", &partition, &epoch); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		epochs[partition] = epoch
	}

	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	for lines.Scan() {
		t.Errorf("after the end: %q", lines.Text())
	}
	_ = child.Wait() // it was killed, which is no surprise

	path := s.Transport()
	defer path.Close()
	store, err := dynamolease.New(path.Client(), table)
	if err != nil {
		t.Fatal(err)
	}
	gained := make(chan coordinator.Assignment, childPartitions)
	cfg := realConfig("heir", func(ctx context.Context, lease coordinator.Assignment) error {
		gained <- lease
		return wait(ctx, lease)
	})
	cfg.LeaseMode = mode
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- coordinator.Run(ctx, store, cfg) }()
	for range childPartitions {
		select {
		case lease := <-gained:
			if lease.Epoch <= epochs[lease.Partition] {
				t.Errorf("partition %d: epoch %d after %d", lease.Partition, lease.Epoch, epochs[lease.Partition])
			}
		case err := <-over:
			t.Fatalf("Run: %v", err)
		}
	}
	if took, bound := time.Since(at), childTTL+grace+childTTL/3*11/10; took > bound+busyMachine {
		t.Errorf("taken over after %v, the bound is %v", took, bound)
	} else {
		t.Logf("taken over after %v, the bound is %v", took, bound)
	}
	cancel()
	if err := <-over; err != nil {
		t.Error(err)
	}
}

// With a ttl of 3 seconds, what a node had runs elsewhere a second after it stopped, at the latest
// (and its jitter).
func TestGracefulStop(t *testing.T) {
	t.Parallel()
	t.Run("CO2", func(t *testing.T) {
		inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
			short := func(c *coordinator.Config) { c.TTL, c.Interval = 3*time.Second, time.Second }
			var nodes []*node
			for i := range 4 {
				nodes = append(nodes, w.start(fmt.Sprint("n", i), 40, inMode(mode), short))
			}
			w.settle(40, nodes...)
			for len(nodes) > 1 {
				nodes[0].stop()
				nodes = nodes[1:]
				w.within(1100*time.Millisecond, "taken over", func() bool { return w.balanced(40, nodes...) })
			}
		})
	})
}
