package processlease_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

// A takeover whose answer was lost is recognised once, with its fence. The writes after it are plain
// renewals.
func TestLostTakeoverIsRecognisedOnce(t *testing.T) {
	subtest(t, "PL9/acquired again", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		o := b.watched()
		b.Path.Next("TransactWriteItems", dynamotest.LoseResponse())
		if out := b.tryTakeover(o); !out.Acquired || out.Fence == nil {
			w.Fatalf("%+v", out)
		}
		if again := b.try(); again.Fence != nil {
			w.Errorf("a renewal took over: %+v", again)
		}
	})
	subtest(t, "PL9/renewed by a manager", func(w *world) {
		a, b, c := w.boot(), w.boot(), w.boot()
		a.acquire()
		c.takeOver() // so that there is a fence to be retired
		o := b.watched()
		b.Path.Next("TransactWriteItems", dynamotest.LoseResponse())
		out := b.tryTakeover(o)
		time.Sleep(time.Second / 2) // retires
		b.Path.Reset()
		m, err := processlease.NewManager(w.Context(), out)
		if err != nil {
			w.Fatal(err)
		}
		defer m.Close()
		time.Sleep(2500 * time.Millisecond)
		if n := b.Path.Count(""); n != 1 {
			w.Errorf("one renewal took %d requests: %v", n, b.Path.Requests())
		}
	})
}

// A takeover is on its way, half committed. A head as it was does not show that it was not applied.
func TestUnknownWhileATakeoverIsBeingCommitted(t *testing.T) {
	halfway := dynamotest.Cancelled("TransactionConflict", "ConditionalCheckFailed", "ConditionalCheckFailed")
	for name, then := range map[string]func(b *boot, cancel func()){
		"throttled": func(b *boot, _ func()) {
			for range 20 {
				b.Path.Next("TransactWriteItems", dynamotest.Throttle())
			}
		},
		"cancelled": func(b *boot, cancel func()) {
			b.Path.Next("TransactWriteItems", dynamotest.All(dynamotest.Around(cancel, nil), dynamotest.Throttle()))
		},
	} {
		subtest(t, "PL9/"+name, func(w *world) {
			a, b := w.boot(), w.boot()
			a.acquire()
			o := b.watched()
			deliver := make(chan struct{})
			ctx, cancel := context.WithCancel(w.Context())
			defer cancel()
			b.Path.Next("TransactWriteItems", dynamotest.Late(deliver))
			b.Path.Next("TransactWriteItems", halfway)
			then(b, cancel)
			_, err := b.store.TryTakeover(ctx, o)
			close(deliver)
			b.Path.Close()
			if got := a.load(); got.Owner != b.owner || !errors.Is(err, dynamolease.ErrUnknownOutcome) {
				w.Errorf("the table has %v, term %d, and the error is %v", got.Owner, got.Term, err)
			}
		})
	}
}

// Somebody edits the head by hand, after a renewal whose answer was lost. The manager neither writes
// in a tight loop nor loses its lease, and notices a mark that says that it resigned.
func TestHeadIsEditedByHandAfterALostAnswer(t *testing.T) {
	for attribute, value := range map[string]types.AttributeValue{
		"exp": number("12345"), "resigned": &types.AttributeValueMemberBOOL{Value: true},
	} {
		subtest(t, "PL27/"+attribute, func(w *world) {
			a := w.boot()
			m := a.manage()
			defer m.Close()
			a.Path.Next("UpdateItem", dynamotest.LoseResponse())
			time.Sleep(3 * time.Second)
			w.meddle("HEAD", attribute, value)
			var writes atomic.Int64
			a.Path.Every("UpdateItem", func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
				if writes.Add(1) > 200 {
					go m.Close()
				}
				return send(req)
			})
			select {
			case <-m.Done():
			case <-time.After(3 * ttl):
			}
			if n := writes.Load(); n > 100 {
				w.Errorf("%d writes", n)
			}
			if resigned := attribute == "resigned"; resigned == m.Valid() {
				w.Errorf("valid is %v: %v", m.Valid(), m.Err())
			}
		})
	}
}

// Two calls of one owner at the same time: the one that meets the other's takeover knows it for its own.
func TestTakeoversOfOneOwnerAtTheSameTime(t *testing.T) {
	subtest(t, "PL9", func(w *world) {
		a, b := w.boot(), w.boot()
		a.acquire()
		o := b.watched()
		b.Path.Next("TransactWriteItems", dynamotest.DelayResponse(time.Second))
		var all sync.WaitGroup
		all.Go(func() { b.tryTakeover(o) })
		time.Sleep(time.Second / 2)
		two := b.tryTakeover(o)
		all.Wait()
		if !two.Acquired || two.Fence == nil || two.Record.Owner != b.owner {
			w.Errorf("%+v", two)
		}
	})
}

// The check whether an owner was superseded takes nothing from the lease: the ttl counts from the
// write.
func TestSlowOwnerCheckTakesNothingFromTheLease(t *testing.T) {
	subtest(t, "PL25", func(w *world) {
		a, b := w.boot(), w.boot()
		if err := a.manage().Resign(w.Context()); err != nil {
			w.Fatal(err)
		}
		b.Path.Next("GetItem", dynamotest.All())
		b.Path.Next("GetItem", dynamotest.Delay(1500*time.Millisecond))
		m, err := processlease.NewManager(w.Context(), b.try())
		if err != nil {
			w.Fatal(err)
		}
		defer m.Close()
		if left := m.Remaining(); left < ttl-time.Second {
			w.Errorf("%v left of %v", left, ttl)
		}
	})
}
