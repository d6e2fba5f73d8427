package examples_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// Without Lambda, any process can reap from time to time; several at once do no harm. If a run does
// not finish in time, the next run continues from there.
func Example_reaper() {
	store, err := dynamolease.New(client, "leases")
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	report, err := store.Reap(ctx, dynamolease.ReapConfig{Limit: 10_000})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("deleted", report.Deleted, "stopped early:", report.Stopped != "")
	for _, malformed := range report.Malformed {
		log.Print(malformed) // look at these rows
	}
	// Output:
	// deleted 0 stopped early: false
}
