package processlease_test

import (
	"context"
	"errors"
	"testing"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

// Two terms pass between the two readings of the head.
func TestVerifiedAcrossTwoTakeovers(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, b, c, d := w.boot(), w.boot(), w.boot(), w.boot()
		a.acquire()
		o := b.watched()
		d.Path.Next("GetItem", dynamotest.Around(nil, nil))
		d.Path.Next("GetItem", dynamotest.Around(func() {
			m, err := processlease.NewManager(w.Context(), b.tryTakeover(o))
			if err != nil {
				w.Error(err)
				return
			}
			if err := m.Resign(w.Context()); err != nil {
				w.Error(err)
			}
			c.acquire()
		}, nil))
		if ok, err := d.authority.VerifyCurrentParticipant(w.Context(), a.participant()); ok || err != nil {
			w.Errorf("%v, %v", ok, err)
		}
		if got := d.load(); got.Term != 3 {
			w.Errorf("the table has %v", got)
		}
	})
}

// A fencer crashes when its takeover has been applied, others come after it, and the node goes on: all have one fence.
func TestFencersThatCrash(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, crashed, second, third := w.boot(), w.boot(), w.boot(), w.boot()
		a.acquire()
		ctx, crash := context.WithCancel(w.Context())
		crashed.Path.Next("TransactWriteItems", dynamotest.All(dynamotest.Around(nil, crash), dynamotest.LoseResponse()))
		if _, err := crashed.authority.FenceIncarnation(ctx, a.participant()); !errors.Is(err, dynamolease.ErrUnknownOutcome) {
			w.Fatalf("fenced: %v", err)
		}
		f := second.fenced(a)
		w.boot().takeOver()
		if again := third.fenced(a); again != f || crashed.fenced(a) != f || f.Successor.Term != 2 {
			w.Errorf("one has %+v, another %+v", f, again)
		}
		if n := second.writes() + third.writes(); n != 0 {
			w.Errorf("%d writes", n)
		}
	})
}
