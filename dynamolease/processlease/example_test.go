package processlease_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

// A program that must be the only "writer-1". The command in the directory fight shows two of them at it.
func Example() {
	ctx := context.Background()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	authority, err := processlease.NewAuthority(dynamodb.NewFromConfig(cfg), "leases", processlease.DefaultTTL)
	if err != nil {
		log.Fatal(err)
	}
	defer authority.Close()
	store, err := authority.Identity("writer-1")
	if err != nil {
		log.Fatal(err)
	}
	acquired, err := store.Acquire(ctx, uuid.New(), time.Minute) // a new owner for each boot
	if err != nil {
		log.Fatal(err) // names the boot that holds it
	}
	manager, err := processlease.NewManager(ctx, acquired)
	if err != nil {
		log.Fatal(err)
	}
	for i := 0; i < 3 && manager.Valid(); i++ {
		fmt.Println("write as writer-1, in term", manager.Record().Term)
	}
	if err := manager.Err(); err != nil {
		log.Fatal("stop all work: ", err)
	}
	if err := manager.Resign(ctx); err != nil { // the work has ended: the next boot need not wait
		log.Print(err)
	}
}

// Before another node works in the place of one that seems dead, it makes sure of it.
func ExampleAuthority_FenceIncarnation() {
	var authority *processlease.Authority    // as above
	var participant processlease.Participant // as the node's last message had it
	deadline, err := authority.FencingDeadline(5 * time.Second)
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	fence, err := authority.FenceIncarnation(ctx, participant)
	switch {
	case errors.Is(err, processlease.ErrRenewed):
		fmt.Println("it is alive")
	case err != nil:
		fmt.Println("nothing is proven:", err)
	default:
		fmt.Println("superseded in term", fence.Successor.Term)
	}
}
