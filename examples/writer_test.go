package examples_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

// A program that must be the only "writer-1", wherever it starts. When it stops, it resigns, so
// that its next boot does not have to watch for a whole ttl first.
func Example_writer() {
	ctx := context.Background()
	authority, err := processlease.NewAuthority(client, "leases", 10*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	defer authority.Close()
	for range 2 {
		boot(ctx, authority)
	}
	// Output:
	// writes in term 1
	// writes in term 2
}

func boot(ctx context.Context, authority *processlease.Authority) {
	identity, err := authority.Identity("writer-1")
	if err != nil {
		log.Fatal(err)
	}
	acquired, err := identity.Acquire(ctx, uuid.New(), time.Minute) // a new owner for each boot
	if err != nil {
		log.Fatal(err) // it names the boot that holds the identity
	}
	manager, err := processlease.NewManager(ctx, acquired)
	if err != nil {
		log.Fatal(err)
	}
	if manager.Valid() { // takes some 50 ns: ask before every write
		fmt.Println("writes in term", manager.Record().Term)
	}
	if err := manager.Resign(ctx); err != nil {
		log.Fatal(err)
	}
}
