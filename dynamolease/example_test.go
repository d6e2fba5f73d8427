package dynamolease_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// One worker holds a partition at a time, and each holder has a greater epoch than the one before.
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

	first, acquired, err := store.Acquire(ctx, "orders", 7, "worker-1", 30*time.Second)
	fmt.Println(first.Owner, acquired, err)

	held, acquired, err := store.Acquire(ctx, "orders", 7, "worker-2", 30*time.Second)
	fmt.Println(held.Owner, acquired, err)

	released, err := store.Release(ctx, "orders", 7, "worker-1")
	fmt.Println(released, err)

	second, acquired, err := store.Acquire(ctx, "orders", 7, "worker-2", 30*time.Second)
	fmt.Println(second.Owner, acquired, err, second.Epoch > first.Epoch)

	// Output:
	// worker-1 true <nil>
	// worker-1 false <nil>
	// true <nil>
	// worker-2 true <nil> true
}

// A worker renews all its leases with one call each round. What is left out is lost; what fails is tried again, and
// meanwhile the leases run out by themselves.
func ExampleStore_Renew() {
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
	for partition := range 3 {
		if _, _, err := store.Acquire(ctx, "orders", partition, "worker-1", 30*time.Second); err != nil {
			log.Fatal(err)
		}
	}

	leases, err := store.Renew(ctx, "orders", []int{0, 1, 2, 3}, "worker-1", 30*time.Second)
	switch {
	case errors.Is(err, dynamolease.ErrUnknownOutcome):
		fmt.Println("try again:", err)
	case err != nil:
		log.Fatal(err)
	}
	for _, lease := range leases {
		fmt.Println(lease.Partition, lease.Remaining() > 29*time.Second)
	}
	// Output:
	// 0 true
	// 1 true
	// 2 true
}
