package examples_test

import (
	"context"
	"fmt"
	"log"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// One node of a service leads at a time. The leader puts the epoch into everything that it writes
// elsewhere. The other side refuses an epoch below the greatest that it has seen.
func Example_leader() {
	ctx, stop := context.WithCancel(context.Background())
	store, err := dynamolease.New(client, "leases")
	if err != nil {
		log.Fatal(err)
	}
	lead := func(ctx context.Context, assignment coordinator.Assignment) error {
		fmt.Println("node-1 leads, with an epoch above zero:", assignment.Epoch > 0)
		stop() // a graceful shutdown of the node
		<-ctx.Done()
		return context.Cause(ctx)
	}
	err = coordinator.Elect(ctx, store, coordinator.Config{
		Service: "shop-leader", Node: "node-1", Address: "10.0.0.7:8080",
	}, "shop-leader", lead)
	fmt.Println("it has resigned:", err)
	// Output:
	// node-1 leads, with an epoch above zero: true
	// it has resigned: <nil>
}
