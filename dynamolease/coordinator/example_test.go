package coordinator_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// Eight partitions are worked by one node. When it is told to stop, each handler finishes, and the
// node leaves.
func Example() {
	ctx := context.Background()
	db, err := dynamotest.Start(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	store, err := dynamolease.New(db.Client(), "leases")
	if err != nil {
		log.Fatal(err)
	}
	if err := store.CreateTable(ctx); err != nil {
		log.Fatal(err)
	}

	ctx, stop := context.WithCancel(ctx)
	var started, finished atomic.Int32
	handle := func(ctx context.Context, _ coordinator.Assignment) error {
		if started.Add(1) == 8 {
			stop() // all partitions are worked: stop the node
		}
		<-ctx.Done() // work until the partition is taken away
		finished.Add(1)
		return context.Cause(ctx)
	}
	err = coordinator.Run(ctx, store, coordinator.Config{
		Service: "shop", Node: "node-1", Address: "10.0.0.7:8080", TTL: 30 * time.Second,
		Groups: []coordinator.Group{{Name: "orders", Partitions: 8, Handler: handle}},
		Logger: slog.New(slog.DiscardHandler),
	})
	fmt.Println(started.Load(), finished.Load(), err)
	// Output:
	// 8 8 <nil>
}
