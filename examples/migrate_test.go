package examples_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// Checkpoints of another lease table are carried over before the first node starts: each partition is acquired, gets its
// checkpoint, and is released again. Done twice, it changes nothing.
func Example_migrate() {
	ctx := context.Background()
	store, err := dynamolease.New(client, "leases")
	if err != nil {
		log.Fatal(err)
	}
	old := []string{"49590338271490256608559692538361571095921575989136588898", "TRIM_HORIZON"} // by shard, in their order
	for partition, checkpoint := range old {
		lease, acquired, err := store.Acquire(ctx, "clicks", partition, "migration", time.Minute)
		if err != nil {
			log.Fatal(err)
		}
		if !acquired {
			log.Fatalf("partition %d is at work: stop the nodes first", partition)
		}
		if lease.Checkpoint == nil {
			if err := store.Checkpoint(ctx, lease, []byte(checkpoint)); err != nil {
				log.Fatal(err)
			}
		}
		if _, err := store.Release(ctx, "clicks", partition, "migration"); err != nil {
			log.Fatal(err)
		}
	}
	next, _, err := store.Acquire(ctx, "clicks", 1, "node-1", time.Minute)
	fmt.Println(string(next.Checkpoint), err)
	// Output:
	// TRIM_HORIZON <nil>
}
