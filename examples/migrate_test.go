package examples_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// Carries the checkpoints of another lease table over, before the first node starts: it acquires
// each partition, writes its checkpoint, and releases it. A second run changes nothing.
func Example_migrate() {
	ctx := context.Background()
	store, err := dynamolease.New(client, "leases")
	if err != nil {
		log.Fatal(err)
	}
	// By shard, in order.
	old := []string{"49590338271490256608559692538361571095921575989136588898", "TRIM_HORIZON"}
	for partition, checkpoint := range old {
		lease, acquired, err := store.Acquire(ctx, "clicks", partition, "migration", time.Minute)
		if err != nil {
			log.Fatal(err)
		}
		if !acquired {
			log.Fatalf("partition %d has an owner: stop the nodes first", partition)
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
