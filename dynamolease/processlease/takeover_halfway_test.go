package processlease_test

import (
	"errors"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

// Of two takeovers at once, the later one can meet the fences of the other and a head that is still locked by it: a
// transaction is committed row by row.
func TestTakeoverMeetsAnotherHalfway(t *testing.T) {
	halfway := func() dynamotest.Fault {
		return dynamotest.Cancelled("TransactionConflict", "ConditionalCheckFailed", "ConditionalCheckFailed")
	}
	subtest(t, "loses", func(w *world) {
		a, b, c := w.boot(), w.boot(), w.boot()
		a.acquire()
		ob, oc := b.observe(), c.observe()
		time.Sleep(oc.Remaining())
		won := c.tryTakeover(oc)
		b.Path.Next("TransactWriteItems", halfway())
		out, err := b.store.TryTakeover(w.Context(), ob)
		if err != nil || out.Acquired || out.Record != won.Record {
			w.Errorf("%+v, %v, want the winner's %v", out, err, won.Record)
		}
	})
	subtest(t, "fencer", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		b.Path.Next("TransactWriteItems", halfway())
		if f, err := b.fence(a); err != nil || f.Successor.Term != 2 {
			w.Errorf("%+v, %v", f, err)
		}
	})
	subtest(t, "always", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		o := b.watched()
		b.Path.Every("TransactWriteItems", dynamotest.Cancelled("TransactionConflict", "TransactionConflict", "TransactionConflict"))
		began := time.Now()
		_, err := b.store.TryTakeover(w.Context(), o)
		if took := time.Since(began); !errors.Is(err, processlease.ErrIO) || errors.Is(err, processlease.ErrInvalid) || took > ttl/2 {
			w.Errorf("%v after %v", err, took)
		}
	})
}
