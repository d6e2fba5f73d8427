package processlease_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

// Boots that come, go, resign, are cut off and suspended on bad paths: at most one of them is valid at any time, terms only
// grow, and each takeover has its fence.
func TestRandomFights(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				f := &fight{world: w}
				ctx, cancel := context.WithTimeout(w.Context(), 5*time.Minute)
				defer cancel()
				var all sync.WaitGroup
				for i := range uint64(3) {
					all.Go(func() {
						for r := rand.New(rand.NewPCG(seed, i)); ctx.Err() == nil; {
							f.live(ctx, r)
						}
					})
				}
				for ctx.Err() == nil {
					time.Sleep(97 * time.Millisecond)
					f.atMostOne()
				}
				all.Wait()
				if f.term < 5 {
					t.Errorf("%d terms only", f.term)
				}
			})
		})
	}
}

type fight struct {
	*world
	mu    sync.Mutex
	alive []*processlease.Manager
	term  uint64
}

// live is the life of one boot.
func (f *fight) live(ctx context.Context, r *rand.Rand) {
	b := f.boot()
	defer b.Path.Close()
	late := make(chan struct{})
	faults := []dynamotest.Fault{
		dynamotest.LoseRequest(), dynamotest.LoseResponse(), dynamotest.HangAfter(), dynamotest.Hang(), dynamotest.Twice(),
		dynamotest.Conflict(), dynamotest.Throttle(), dynamotest.DelayResponse(time.Second), dynamotest.Delay(time.Second),
		dynamotest.All(dynamotest.HangAfter(), dynamotest.Late(late)),
	}
	spoil := func() {
		for range r.IntN(6) {
			b.Path.Next([]string{"", "UpdateItem", "TransactWriteItems"}[r.IntN(3)], faults[r.IntN(len(faults))])
		}
	}
	spoil()
	owner := uuid.New()
	out, err := b.store.Acquire(ctx, owner, time.Minute)
	if err != nil {
		if !errors.Is(err, processlease.ErrDeadline) && ctx.Err() == nil {
			f.Errorf("acquire: %v", err)
		}
		return
	}
	m, err := processlease.NewManager(ctx, out)
	if err != nil {
		f.Errorf("manage: %v", err)
		return
	}
	defer m.Close()
	f.begin(m, out)
	pause := func() {
		select {
		case <-time.After(time.Duration(r.Int64N(int64(2 * ttl)))):
		case <-m.Done():
		}
	}
	pause()
	spoil()
	pause()
	switch r.IntN(4) {
	case 0:
		m.Close()
	case 1:
		if err := m.Resign(ctx); err != nil && !errors.Is(err, processlease.ErrIO) && !errors.Is(err, dynamolease.ErrUnknownOutcome) && ctx.Err() == nil {
			f.Errorf("resign: %v", err)
		}
	case 2:
		b.Step(ttl)
	case 3:
		b.Path.Every("", faults[r.IntN(4)])
		<-m.Done()
	}
	close(late)
	<-m.Done()
}

// begin notes a boot that holds the lease now.
func (f *fight) begin(m *processlease.Manager, out processlease.Result) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if out.Record.Term <= f.term {
		f.Errorf("%v after term %d", out.Record, f.term)
	}
	if out.Record.Term > 1 && (out.Fence == nil || out.Fence.Successor.Term != out.Record.Term || out.Fence.Successor.Owner != out.Record.Owner) {
		f.Errorf("%v with the fence %+v", out.Record, out.Fence)
	}
	f.term = out.Record.Term
	f.alive = append(f.alive, m)
}

func (f *fight) atMostOne() {
	f.mu.Lock()
	defer f.mu.Unlock()
	var valid []processlease.Record
	for _, m := range f.alive {
		if m.Valid() {
			valid = append(valid, m.Record())
		}
	}
	if len(valid) > 1 {
		f.Errorf("valid at once: %v", valid)
	}
}
