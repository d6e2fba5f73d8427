package dynamolease_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// How far has the work of each partition got? That can be read without acquiring anything, also while nobody works.
func ExampleStore_Leases() {
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
	for partition := range 2 {
		lease, _, err := store.Acquire(ctx, "orders", partition, "worker-1", 30*time.Second)
		if err != nil {
			log.Fatal(err)
		}
		if err := store.Checkpoint(ctx, lease, fmt.Appendf(nil, "order %d", 100+partition)); err != nil {
			log.Fatal(err)
		}
	}
	if _, err := store.Release(ctx, "orders", 1, "worker-1"); err != nil {
		log.Fatal(err)
	}

	leases, err := store.Leases(ctx, "orders")
	if err != nil {
		log.Fatal(err)
	}
	for _, lease := range leases {
		fmt.Printf("%d %q %s\n", lease.Partition, lease.Owner, lease.Checkpoint)
	}
	// Output:
	// 0 "worker-1" order 100
	// 1 "" order 101
}
