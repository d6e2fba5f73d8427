package dynamolease_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

// write writes an item of the user's own under a lease, past the store.
func (n *node) write(lease dynamolease.Lease) error {
	_, err := n.raw.TransactWriteItems(context.Background(), &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{lease.Check(n.w.Table), n.w.increment("counter")},
	})
	return err
}

func (n *node) wantFenced(lease dynamolease.Lease) {
	n.w.Helper()
	err := n.write(lease)
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) || aws.ToString(cancelled.CancellationReasons[0].Code) != "ConditionalCheckFailed" {
		n.w.Errorf("epoch %d of %s was not fenced off: %v", lease.Epoch, lease.Owner, err)
	}
}

// deleteRow deletes the row of a partition, as a person or the table's TTL may.
func (w *world) deleteRow(partition int) {
	w.Helper()
	w.Delete(w.leaseKey(partition))
}

// A lease's own condition holds while nobody else has taken the lease, and it was not released, whatever else was done.
func TestCheck(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, b := w.node(), w.node()
		a.lease = a.acquire(1, "a")
		a.renew("a", 1)
		a.checkpoint("5")
		w.expire() // it needs no clock
		if err := a.write(a.lease); err != nil {
			w.Error(err)
		}
		b.open("b", ttl)
		b.lease = b.take(1)
		a.wantFenced(a.lease)
		if err := b.write(b.lease); err != nil {
			w.Error(err)
		}
		if _, err := b.session.Release(w.Context(), w.group, 1); err != nil {
			w.Error(err)
		}
		b.wantFenced(b.lease)
		w.deleteRow(1)
		a.wantFenced(a.lease)
		w.wantCount("2")
	})
}

// Acquired, released, expired, taken over, deleted, a thousand times over: each holder has a greater epoch
// than the one before, which is fenced off.
func TestEpochsOrderAllHolders(t *testing.T) {
	t.Run("C37", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			a, b := w.node(), w.node()
			b.open("b", ttl)
			var last dynamolease.Lease
			for round := range testkit.Size(240, 1000) {
				var lease dynamolease.Lease
				if round%2 == 0 {
					lease = a.acquire(1, "a")
				} else {
					lease = b.take(1)
				}
				if lease.Epoch <= last.Epoch {
					w.Fatalf("round %d: epoch %d after %d", round, lease.Epoch, last.Epoch)
				}
				if round%20 == 19 {
					a.wantFenced(last)
				}
				last = lease
				switch round % 6 {
				case 0, 3:
					w.expire()
				case 1, 4: // both end, one released, one closed
					if round%4 == 0 {
						a.release(1, "a")
					}
					w.deleteLater(round, b)
				case 2:
					a.release(1, "a")
				case 5:
					if err := b.session.ReleaseAll(w.Context()); err != nil {
						w.Fatal(err)
					}
				}
				if b.session.Err() != nil {
					b.open("b", ttl)
				}
			}
		})
	})
}

// deleteLater deletes the row some seconds after its last use, in every other round, once the lease is over.
func (w *world) deleteLater(round int, b *node) {
	w.Helper()
	if err := b.session.Close(w.Context()); err != nil {
		w.Fatal(err)
	}
	w.expire()
	if round%12 < 6 {
		time.Sleep(graceOfExpiry)
		w.deleteRow(1)
	}
}
