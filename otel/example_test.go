package dynamoleaseotel_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"

	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	dynamoleaseotel "github.com/dynamolease/dynamolease/otel"
)

// A node works eight partitions, and is stopped. A program has a periodic reader with an exporter in place of the manual one.
func Example() {
	ctx := context.Background()
	db, err := dynamotest.Start(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	reader := sdk.NewManualReader()
	metrics, err := dynamoleaseotel.New(sdk.NewMeterProvider(sdk.WithReader(reader)))
	if err != nil {
		log.Fatal(err)
	}
	defer metrics.Close()

	store, err := dynamolease.New(db.Client(), "leases", metrics.StoreOptions)
	if err != nil {
		log.Fatal(err)
	}
	metrics.ObserveStore(store)
	if err := store.CreateTable(ctx); err != nil {
		log.Fatal(err)
	}

	ctx, stop := context.WithCancel(ctx)
	started := make(chan struct{}, 8)
	cfg := coordinator.Config{
		Service: "shop", Node: "node-1", Address: "10.0.0.7:8080", Logger: slog.New(slog.DiscardHandler),
		Groups: []coordinator.Group{{Name: "orders", Partitions: 8, Handler: func(ctx context.Context, _ coordinator.Assignment) error {
			started <- struct{}{}
			<-ctx.Done() // work until the partition is taken away
			return nil
		}}},
	}
	cfg.Hooks = metrics.Hooks(cfg)
	c, err := coordinator.New(store, cfg)
	if err != nil {
		log.Fatal(err)
	}
	metrics.ObserveCoordinator(cfg.Service, c)
	go func() {
		for range 8 {
			<-started
		}
		stop() // all partitions are worked: stop the node
	}()
	if err := c.Run(ctx); err != nil {
		log.Fatal(err)
	}

	var collected metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &collected); err != nil {
		log.Fatal(err)
	}
	for _, m := range collected.ScopeMetrics[0].Metrics {
		switch data := m.Data.(type) {
		case metricdata.Sum[int64]:
			if m.Name == "dynamolease.leases.gained" {
				fmt.Println(m.Name, data.DataPoints[0].Value)
			}
		case metricdata.Gauge[int64]:
			if m.Name == "dynamolease.leases.held" || m.Name == "dynamolease.healthy" {
				fmt.Println(m.Name, data.DataPoints[0].Value)
			}
		}
	}
	// Unordered output:
	// dynamolease.leases.gained 8
	// dynamolease.leases.held 0
	// dynamolease.healthy 0
}
