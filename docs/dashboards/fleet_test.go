package dashboards_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	sdk "go.opentelemetry.io/otel/sdk/metric"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
	dynamoleaseotel "github.com/dynamolease/dynamolease/otel"
)

const (
	partitions = 6
	ttl        = 9 * time.Second
	interval   = 3 * time.Second
	scrape     = 15 * time.Second
)

// A fleet is some nodes in virtual time, and the samples that were scraped from them.
type fleet struct {
	*testing.T
	server  *dynamotest.Server
	table   string
	nodes   map[string]*node
	scraped []*model.Sample
	fails   atomic.Int32
}

type node struct {
	path     *dynamotest.Transport
	registry *prometheus.Registry
}

// scrapeFleet returns the samples that Prometheus gets from two nodes in five minutes. One node
// starts, then the other joins. The first loses an answer, is throttled, and is cut off for longer
// than the ttl. Both continue to the end.
func scrapeFleet(t *testing.T) []*model.Sample {
	server := testkit.Server(t)
	f := &fleet{server: server, table: server.Table(t), nodes: make(map[string]*node)}
	synctest.Test(t, func(t *testing.T) {
		f.T = t
		f.start("a")
		f.pass(time.Minute)
		f.start("b")
		f.pass(time.Minute)
		f.nodes["a"].path.Next("UpdateItem", dynamotest.LoseResponse())
		f.nodes["a"].path.Next("UpdateItem", dynamotest.Throttle())
		f.pass(time.Minute)
		heal := f.nodes["a"].path.Every("", dynamotest.Hang())
		f.pass(3 * ttl)
		heal()
		f.pass(2 * time.Minute)
	})
	return f.scraped
}

func (f *fleet) start(name string) {
	f.Helper()
	n := &node{path: f.server.VirtualTransport(), registry: prometheus.NewRegistry()}
	f.Cleanup(n.path.Close)
	f.nodes[name] = n
	export, err := exporter.New(exporter.WithRegisterer(n.registry))
	if err != nil {
		f.Fatal(err)
	}
	provider := sdk.NewMeterProvider(sdk.WithReader(export))
	f.Cleanup(func() { _ = provider.Shutdown(context.Background()) })
	metrics, err := dynamoleaseotel.New(provider)
	if err != nil {
		f.Fatal(err)
	}
	store, err := dynamolease.New(n.path.Client(), f.table, metrics.StoreOptions, inBubble)
	if err != nil {
		f.Fatal(err)
	}
	metrics.ObserveStore(store)
	cfg := coordinator.Config{
		Service: "shop", Node: name, Address: name + ":1", TTL: ttl, Interval: interval, Logger: slog.New(slog.DiscardHandler),
		Groups: []coordinator.Group{{Name: "orders", Partitions: partitions, Handler: f.handle}},
	}
	cfg.Hooks = metrics.Hooks(cfg)
	c, err := coordinator.New(store, cfg)
	if err != nil {
		f.Fatal(err)
	}
	metrics.ObserveCoordinator(cfg.Service, c)
	f.run(c)
	time.Sleep(interval) // it has joined before the first scrape
}

func inBubble(o *dynamolease.Options) {
	began := time.Now()
	o.Logger = slog.New(slog.DiscardHandler)
	o.Elapsed = func() (atLeast, atMost time.Duration) { return time.Since(began), time.Since(began) }
}

// handle fails for one partition at first: for some 7 seconds, and the node counts it as failing for a minute more.
func (f *fleet) handle(ctx context.Context, a coordinator.Assignment) error {
	if a.Partition == 0 {
		if f.fails.Add(1) <= 4 {
			return errors.New("does not work yet")
		}
	}
	<-ctx.Done()
	return nil
}

// run runs a coordinator until the test ends.
func (f *fleet) run(c *coordinator.Coordinator) {
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- c.Run(ctx) }()
	f.Cleanup(func() {
		cancel()
		if err := <-over; err != nil {
			f.Error(err)
		}
	})
}

// pass lets time pass, and scrapes meanwhile.
func (f *fleet) pass(d time.Duration) {
	f.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(scrape) {
		for _, name := range slices.Sorted(maps.Keys(f.nodes)) {
			f.scrape(name)
		}
	}
}

func (f *fleet) scrape(name string) {
	f.Helper()
	families, err := f.nodes[name].registry.Gather()
	if err != nil {
		f.Fatal(err)
	}
	samples, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{Timestamp: model.Now()}, families...)
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range samples {
		s.Metric["instance"] = model.LabelValue(name)
	}
	f.scraped = append(f.scraped, samples...)
}
