package coordinator_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// Environment variables that make a process of the tests a child, and say in which mode.
const (
	childTable = "COORDINATOR_CHILD_TABLE"
	childMode  = "COORDINATOR_CHILD_MODE"
)

const (
	childTTL        = 3 * time.Second
	childPartitions = 4
)

// childMain is a node in a process of its own. It says "works PARTITION EPOCH" on its standard
// output when a handler starts, and ends when its input does.
func childMain() int {
	if err := runChild(); err != nil {
		fmt.Println("failed", err)
		return 1
	}
	return 0
}

func runChild() error {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		_, _ = os.Stdin.Read(make([]byte, 1))
	}()
	server, err := dynamotest.Start(ctx)
	if err != nil {
		return err
	}
	store, err := dynamolease.New(server.Client(), os.Getenv(childTable))
	if err != nil {
		return err
	}
	cfg := realConfig("child", func(ctx context.Context, lease coordinator.Assignment) error {
		fmt.Println("works", lease.Partition, lease.Epoch)
		return wait(ctx, lease)
	})
	if os.Getenv(childMode) == fmt.Sprint(coordinator.PerLease) {
		cfg.LeaseMode = coordinator.PerLease
	}
	return coordinator.Run(ctx, store, cfg)
}

func realConfig(node string, handler coordinator.Handler) coordinator.Config {
	return coordinator.Config{
		Service: "shop", Node: node, Address: node + ":1", TTL: childTTL, Logger: slog.New(slog.DiscardHandler),
		Groups: []coordinator.Group{{Name: "orders", Partitions: childPartitions, Handler: handler}},
	}
}
