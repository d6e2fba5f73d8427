//go:build linux

package chaos

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

const (
	contested = "writer-1" // the node identity
	bootTTL   = 2 * time.Second
)

// fight boots under the contested identity again and again, until ctx ends.
func fight(ctx context.Context, t task, record *recorder) error {
	authority, err := processlease.NewAuthority(t.client(), t.Table, bootTTL, func(o *processlease.Options) {
		o.Logger = slog.New(slog.DiscardHandler)
	})
	if err != nil {
		return err
	}
	defer authority.Close()
	store, err := authority.Identity(contested)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		acquired, err := store.Acquire(ctx, uuid.New(), time.Minute)
		if errors.Is(err, processlease.ErrInvalid) {
			return err
		}
		if err == nil {
			err = reign(ctx, authority, acquired, record)
		}
		var lost *processlease.HeldError
		if err != nil && ctx.Err() == nil && !errors.As(err, &lost) {
			rest(ctx, 100*time.Millisecond) // the database does not answer
		}
	}
	return nil
}

// reign uses the identity while it is valid. It resigns after some seconds, so that others have a
// turn.
func reign(ctx context.Context, authority *processlease.Authority, acquired processlease.Result, record *recorder) error {
	manager, err := processlease.NewManager(ctx, acquired)
	if err != nil {
		return err
	}
	defer manager.Close()
	term := int64(acquired.Record.Term)
	note := func(kind string) error { return record.note(kind, identity, term, 0, manager.Remaining) }
	if err := note(begin); err != nil {
		return err
	}
	if acquired.Fence != nil {
		if holds, err := authority.VerifyFence(ctx, *acquired.Fence); err == nil && !holds {
			if err := note(unfenced); err != nil {
				return err
			}
		}
	}
	for until := now().add(2*time.Second + rand.N(6*time.Second)); manager.Valid() && now() < until && ctx.Err() == nil; {
		if err := note(believe); err != nil {
			return err
		}
		rest(ctx, 30*time.Millisecond)
	}
	if err := note(end); err != nil {
		return err
	}
	return manager.Resign(context.WithoutCancel(ctx))
}
