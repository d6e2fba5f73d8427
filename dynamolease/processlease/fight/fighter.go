package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

const node = "writer-1"

// fight is one boot of the node: it gets the identity, uses it while the lease is valid, and says
// so.
func fight(ctx context.Context, out io.Writer, name, table string, ttl time.Duration) error {
	say := func(format string, args ...any) { fmt.Fprintf(out, name+": "+format+"\n", args...) }

	server, err := dynamotest.Start(ctx) // connects to the referee's server
	if err != nil {
		return err
	}
	authority, err := processlease.NewAuthority(server.Client(), table, ttl)
	if err != nil {
		return err
	}
	defer authority.Close()
	store, err := authority.Identity(node)
	if err != nil {
		return err
	}

	owner := uuid.New() // each boot has its own
	say("wants to be %s", node)
	acquired, err := store.Acquire(ctx, owner, time.Minute)
	if err != nil {
		return err
	}
	manager, err := processlease.NewManager(ctx, acquired)
	if err != nil {
		return err
	}
	defer manager.Close()
	say("is %s in term %d", node, acquired.Record.Term)
	if acquired.Fence != nil {
		if err := showFence(ctx, say, authority, *acquired.Fence); err != nil {
			return err
		}
	}
	say("works until it is over")

	<-manager.Done()
	if errors.Is(manager.Err(), processlease.ErrStopped) {
		return manager.Resign(context.WithoutCancel(ctx)) // so that the next boot does not wait
	}
	say("is not %s any more: %v", node, manager.Err())
	held, err := store.TryAcquire(ctx, owner)
	if err != nil {
		return err
	}
	if !held.Acquired {
		say("its delayed write changed nothing: term %d stands", held.Record.Term)
	}
	return nil
}

// showFence shows the proof that the former boot is over, and verifies it as any process can.
func showFence(ctx context.Context, say func(string, ...any), authority *processlease.Authority, fence processlease.Fence) error {
	holds, err := authority.VerifyFence(ctx, fence)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(fence, "", "  ")
	if err != nil {
		return err
	}
	say("has a fence against the boot before, verified %v:\n%s", holds, text)
	return nil
}
