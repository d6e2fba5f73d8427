package applied_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/infra/cdk/internal/iamproxy"
)

// runReader reads leases and members under a policy.
func runReader(t *testing.T, w *world, policy iamproxy.Policy) (err error) {
	t.Helper()
	guard := iamproxy.NewGuard(policy, "pk")
	synctest.Test(t, func(t *testing.T) {
		holder, reader := w.newPath(nil), w.newPath(guard)
		defer holder.transport.Close()
		defer reader.transport.Close()
		if err := w.occupy(holder); err != nil {
			t.Fatal(err)
		}
		err = errors.Join(w.look(reader), guard.Refused(), unneeded(guard))
	})
	return err
}

// occupy makes a node hold a lease and be a member.
func (w *world) occupy(p *path) error {
	store, err := w.store(p)
	if err != nil {
		return err
	}
	ctx := context.Background()
	if _, _, err := store.Acquire(ctx, "orders", 3, "a", time.Minute); err != nil {
		return err
	}
	_, err = store.Heartbeat(ctx, dynamolease.Node{Service: "shop", Name: "a", Address: "a:1", Groups: []string{"orders"}}, time.Minute)
	return err
}

func (w *world) look(p *path) error {
	ctx := context.Background()
	store, err := w.store(p)
	if err != nil {
		return err
	}
	// A reader that does not check the table first learns the store's time by a read of one row.
	if _, err := store.Members(ctx, "shop"); err != nil {
		return fmt.Errorf("members at first: %w", err)
	}
	if err := store.CheckTable(ctx); err != nil {
		return err
	}
	owners, err := store.Owners(ctx, "orders")
	if err != nil || len(owners) != 1 {
		return fmt.Errorf("owners: %v, %w", owners, err)
	}
	members, err := store.Members(ctx, "shop")
	if err != nil || len(members) != 1 {
		return fmt.Errorf("members: %v, %w", members, err)
	}
	return nil
}

// runVerifier loads and verifies a process lease under a policy.
func runVerifier(t *testing.T, w *world, policy iamproxy.Policy) (err error) {
	t.Helper()
	guard := iamproxy.NewGuard(policy, "pk")
	synctest.Test(t, func(t *testing.T) {
		holder, reader := w.newPath(nil), w.newPath(guard)
		defer holder.transport.Close()
		defer reader.transport.Close()
		if err := w.boots(holder, "node-1"); err != nil {
			t.Fatal(err)
		}
		err = errors.Join(w.verify(reader), guard.Refused(), unneeded(guard))
	})
	return err
}

func (w *world) verify(p *path) error {
	ctx := context.Background()
	authority, err := w.checked(ctx, p)
	if err != nil {
		return err
	}
	defer authority.Close()
	node, err := authority.Identity("node-1")
	if err != nil {
		return err
	}
	if lease, found, err := node.Load(ctx); err != nil || !found || lease.Term != 3 {
		return fmt.Errorf("load: %v, %v, %w", lease, found, err)
	}
	return nil
}
