package dynamoleaseotel_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/metric"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
	dynamoleaseotel "github.com/dynamolease/dynamolease/otel"
)

const (
	ttl      = 9 * time.Second
	interval = 3 * time.Second
	service  = "shop"
	group    = "orders"
)

// A world is a table of its own, in virtual time.
type world struct {
	testing.TB
	server *dynamotest.Server
	table  string
}

func inVirtualTime(t *testing.T, test func(w *world)) {
	t.Helper()
	s := testkit.Server(t)
	w := &world{server: s, table: s.Table(t)}
	synctest.Test(t, func(t *testing.T) {
		w.TB = t
		test(w)
	})
}

// A node is one process: its own path to the server, its own store, and what is measured of it.
type node struct {
	*world
	*dynamolease.Store
	path    *dynamotest.Transport
	metrics *dynamoleaseotel.Metrics
	reader  *sdk.ManualReader

	name string
	stop func() // ends its coordinator, and waits for that; nil while it has none
}

// node makes a process with a store. Options are applied before those that measure.
func (w *world) node(name string, options ...func(*dynamolease.Options)) *node {
	w.Helper()
	n := &node{world: w, name: name, path: w.server.VirtualTransport()}
	w.Cleanup(n.path.Close)
	var err error
	if n.metrics, err = dynamoleaseotel.New(n.provider()); err != nil {
		w.Fatal(err)
	}
	n.Store = n.newStore(append(options, n.metrics.StoreOptions)...)
	n.metrics.ObserveStore(n.Store)
	return n
}

// provider makes a provider, and the reader of what it collects.
func (n *node) provider() *sdk.MeterProvider {
	n.reader = sdk.NewManualReader()
	provider := sdk.NewMeterProvider(sdk.WithReader(n.reader))
	n.Cleanup(func() {
		if err := provider.Shutdown(context.Background()); err != nil {
			n.Error(err)
		}
	})
	return provider
}

func (n *node) newStore(options ...func(*dynamolease.Options)) *dynamolease.Store {
	n.Helper()
	began := time.Now()
	store, err := dynamolease.New(n.path.Client(), n.table, append(options, func(o *dynamolease.Options) {
		o.Logger = slog.New(slog.DiscardHandler)
		o.Elapsed = func() (atLeast, atMost time.Duration) { return time.Since(began), time.Since(began) }
	})...)
	if err != nil {
		n.Fatal(err)
	}
	return store
}

// run has the node take part in the service, until it is stopped.
func (n *node) run(partitions int, change ...func(*coordinator.Config)) {
	n.Helper()
	cfg := coordinator.Config{
		Service: service, Node: n.name, Address: n.name + ":1", TTL: ttl, Interval: interval, Logger: slog.New(slog.DiscardHandler),
		Groups: []coordinator.Group{{Name: group, Partitions: partitions, Handler: untilTold}},
	}
	for _, c := range change {
		c(&cfg)
	}
	cfg.Hooks = n.metrics.Hooks(cfg)
	c, err := coordinator.New(n.Store, cfg)
	if err != nil {
		n.Fatal(err)
	}
	n.metrics.ObserveCoordinator(cfg.Service, c)
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		if err := c.Run(ctx); err != nil {
			n.Errorf("Run of %s: %v", n.name, err)
		}
	}()
	n.stop = func() {
		cancel()
		<-over
	}
	n.Cleanup(n.stop)
}

// untilTold is the handler that does nothing until its context ends.
func untilTold(ctx context.Context, _ coordinator.Assignment) error {
	<-ctx.Done()
	return nil
}

// rounds lets so many rounds pass, with their jitter.
func rounds(n int) { time.Sleep(time.Duration(n) * interval * 11 / 10) }

func (n *node) heartbeat() error {
	_, err := n.Heartbeat(n.Context(), dynamolease.Node{Service: service, Name: n.name, Address: "host"}, ttl)
	return err
}
