package examples_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A Lambda function of which one invocation works at a time, whatever starts it, and however often.
// The environment is frozen between invocations, so no lease is held across them: each invocation
// acquires it at the start and releases it at the end. The owner is the request id of the
// invocation.
func Example_lambda() {
	store, err := dynamolease.New(client, "leases") // once for each environment
	if err != nil {
		log.Fatal(err)
	}
	handler := func(ctx context.Context, requestID string, work func(context.Context, dynamolease.Lease) error) (string, error) {
		lease, acquired, err := store.Acquire(ctx, "nightly", 0, requestID, time.Minute)
		if err != nil {
			return "", err // Lambda tries again
		}
		if !acquired {
			return "at work already: " + lease.Owner, nil
		}
		ctx, cancel := context.WithTimeout(ctx, lease.Remaining()) // ends with the lease
		defer cancel()
		workErr := work(ctx, lease)
		if _, err := store.Release(context.WithoutCancel(ctx), "nightly", 0, requestID); err != nil {
			log.Print(err) // it expires by itself
		}
		return "done", workErr
	}

	said, err := handler(context.Background(), "request-1", func(ctx context.Context, lease dynamolease.Lease) error {
		said, err := handler(ctx, "request-2", nil) // another invocation meanwhile
		fmt.Println(said, err)
		return err
	})
	fmt.Println(said, err)
	// Output:
	// at work already: request-1 <nil>
	// done <nil>
}
