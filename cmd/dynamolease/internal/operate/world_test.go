package operate_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/operate"
	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

const (
	ttl      = 9 * time.Second
	interval = 3 * time.Second
	grace    = 5 * time.Second // by how much the store's bounds may delay the end of an expired lease
	service  = "shop"
	group    = "orders"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// A world is a table in virtual time, with the workers of its partitions.
type world struct {
	testing.TB
	server *dynamotest.Server
	table  string

	mu     sync.Mutex
	active map[int]string // the worker of each partition, with its epoch
}

func inVirtualTime(t *testing.T, test func(w *world)) {
	t.Helper()
	server := testkit.Server(t)
	table := server.Table(t)
	synctest.Test(t, func(t *testing.T) {
		test(&world{TB: t, server: server, table: table, active: make(map[int]string)})
	})
}

// A party is somebody with a store and a path to the table of its own.
type party struct {
	*operate.Table
	w    *world
	path *dynamotest.Transport
	said []string
}

func (w *world) party() *party {
	w.Helper()
	path := w.server.VirtualTransport()
	w.Cleanup(path.Close)
	client, begun := path.Client(), time.Now()
	store, err := dynamolease.New(client, w.table, func(o *dynamolease.Options) {
		o.Elapsed = func() (time.Duration, time.Duration) { return time.Since(begun), time.Since(begun) }
		o.Logger = slog.New(slog.DiscardHandler)
	})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(store.Close)
	return &party{Table: &operate.Table{Name: w.table, Client: client, Store: store}, w: w, path: path}
}

// waiting waits for d at most, and remembers all messages.
func (p *party) waiting(d time.Duration) operate.Waiting {
	return operate.Waiting{Wait: d, Look: 15 * time.Second, Tell: func(line string) { p.said = append(p.said, line) }}
}

func (p *party) acquire(partition int, owner string) dynamolease.Lease {
	p.w.Helper()
	lease, acquired, err := p.Store.Acquire(p.w.Context(), group, partition, owner, ttl)
	if err != nil || !acquired {
		p.w.Fatalf("acquire: %+v, %v, %v", lease, acquired, err)
	}
	return lease
}

// session opens a session and acquires a partition in it.
func (p *party) session(node string, partition int) (*dynamolease.Session, dynamolease.Lease) {
	p.w.Helper()
	session, err := p.Store.OpenSession(p.w.Context(), dynamolease.Node{Service: service, Name: node, Address: node + ":1", Groups: []string{group}}, ttl)
	if err != nil {
		p.w.Fatal(err)
	}
	lease, acquired, err := session.Acquire(p.w.Context(), group, partition)
	if err != nil || !acquired {
		p.w.Fatalf("acquire: %+v, %v, %v", lease, acquired, err)
	}
	return session, lease
}

// until calls f once each interval until the returned function is called, which waits for the last
// call.
func (w *world) until(f func()) (stop func()) {
	done := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				f()
			}
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		running.Wait()
	})
}

// held is the lease of a partition, as an operator finds it.
func (p *party) held(partition int) operate.Lease {
	p.w.Helper()
	held, err := p.Lease(p.w.Context(), group, partition)
	if err != nil {
		p.w.Fatal(err)
	}
	return held
}

// node runs a coordinator whose handlers are watched, until the test ends or stop is called. stuck
// ones do not look at their context until it has been over for a minute.
func (w *world) node(name string, partitions int, stuck bool) (p *party, stop func()) {
	w.Helper()
	p = w.party()
	c, err := coordinator.New(p.Store, coordinator.Config{
		Service: service, Node: name, Address: name + ":1", TTL: ttl, Interval: interval, Logger: slog.New(slog.DiscardHandler),
		Groups: []coordinator.Group{{Name: group, Partitions: partitions, DrainTimeout: 2 * time.Minute, Handler: func(ctx context.Context, lease coordinator.Assignment) error {
			defer w.enter(name, lease)()
			<-ctx.Done()
			if stuck {
				time.Sleep(time.Minute)
			}
			return context.Cause(ctx)
		}}},
	})
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := c.Run(ctx); err != nil {
			w.Errorf("%s: %v", name, err)
		}
	})
	stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
	})
	w.Cleanup(stop)
	return p, stop
}

// enter notes that a handler runs, and fails the test if another one does for the same partition.
func (w *world) enter(name string, lease coordinator.Assignment) (leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	me := fmt.Sprintf("%s under %d", name, lease.Epoch)
	if other, ok := w.active[lease.Partition]; ok {
		w.Errorf("partition %d: %s begins while %s works it", lease.Partition, me, other)
	}
	w.active[lease.Partition] = me
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.active, lease.Partition)
	}
}

// worker returns the worker of a partition with its epoch, or "".
func (w *world) worker(partition int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.active[partition]
}

// settle waits until each partition is worked, by the expected number of nodes.
func (w *world) settle(partitions int) {
	w.Helper()
	time.Sleep(6 * interval)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.active) != partitions {
		w.Fatalf("%d of %d partitions are worked", len(w.active), partitions)
	}
}
