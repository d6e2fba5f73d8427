package applied_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease/processlease"
	"github.com/dynamolease/dynamolease/infra/cdk/internal/iamproxy"
)

// authority returns the authority of a process that keeps process leases.
func (w *world) authority(p *path, retention time.Duration) (*processlease.Authority, error) {
	return processlease.NewAuthority(p.client, w.table, ttl, func(o *processlease.Options) {
		o.Elapsed, o.Logger, o.FenceRetention = p.elapsed, slog.New(slog.DiscardHandler), retention
	})
}

// runBoots lets three boots of a node follow each other under a policy, in virtual time: the first
// dies, the second resigns.
func runBoots(t *testing.T, w *world, policy iamproxy.Policy) (err error) {
	t.Helper()
	guard := iamproxy.NewGuard(policy, "pk")
	synctest.Test(t, func(*testing.T) {
		p := w.newPath(guard)
		defer p.transport.Close()
		err = errors.Join(w.boots(p, "node-1"), guard.Refused(), unneeded(guard))
	})
	return err
}

// checked checks the table first, as a program does at its start, and returns an authority.
func (w *world) checked(ctx context.Context, p *path) (*processlease.Authority, error) {
	store, err := w.store(p)
	if err != nil {
		return nil, err
	}
	if err := store.CheckTable(ctx); err != nil {
		return nil, err
	}
	return w.authority(p, time.Hour)
}

func (w *world) boots(p *path, node string) error {
	ctx := context.Background()
	authority, err := w.checked(ctx, p)
	if err != nil {
		return err
	}
	defer authority.Close()
	for number := range 3 {
		if err := boots(ctx, authority, node, number == 1); err != nil {
			return fmt.Errorf("boot %d: %w", number, err)
		}
	}
	return nil
}

// boots runs one boot: it gets the lease, lets a manager renew it, and then resigns or leaves it.
func boots(ctx context.Context, authority *processlease.Authority, node string, resigns bool) error {
	store, err := authority.Identity(node)
	if err != nil {
		return err
	}
	acquired, err := store.Acquire(ctx, uuid.New(), patience)
	if err != nil {
		return err
	}
	manager, err := processlease.NewManager(ctx, acquired)
	if err != nil {
		return err
	}
	defer manager.Close()
	time.Sleep(2 * ttl)
	if !manager.Valid() {
		return manager.Err()
	}
	current := processlease.Participant{Node: node, Owner: manager.Record().Owner}
	if holds, err := authority.VerifyCurrentParticipant(ctx, current); err != nil || !holds {
		return fmt.Errorf("it holds the lease: %v, %w", holds, err)
	}
	if resigns {
		return manager.Resign(ctx)
	}
	return nil
}
