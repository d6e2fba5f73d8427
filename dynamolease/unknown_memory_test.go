package dynamolease_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// onceAppliedThenCut has the first UpdateItem applied and its answer lost, and after that loses every request, until the end.
func onceAppliedThenCut(n *node) (end func()) {
	var mu sync.Mutex
	first := true
	return n.Path.Every("", func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
		update := req.Header.Get("X-Amz-Target") == "DynamoDB_20120810.UpdateItem"
		mu.Lock()
		apply := update && first
		first = first && !update
		cut := !first && !apply
		mu.Unlock()
		switch {
		case apply:
			return dynamotest.LoseResponse()(req, send)
		case cut:
			return dynamotest.LoseRequest()(req, send)
		}
		return send(req)
	})
}

func wantUnknown(w *world, err error) {
	w.Helper()
	if !errors.Is(err, dynamolease.ErrUnknownOutcome) {
		w.Fatalf("got %v, want unknown", err)
	}
}

// A release that was applied without an answer: the lease is free. Renew takes it again, with its epoch.
func TestRenewAfterUnknownRelease(t *testing.T) {
	t.Run("LS12", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			n, other := w.node(), w.node()
			n.acquire(1, "a")
			end := onceAppliedThenCut(n)
			_, err := n.Release(w.Context(), w.group, 1, "a")
			end()
			wantUnknown(w, err)
			if list := other.owners(); len(list) != 0 {
				w.Fatalf("not free: %v", list)
			}
			if list := n.renew("a", 1); len(list) != 0 {
				w.Errorf("renewed what was released: epoch %d", list[0].Epoch)
			}
		})
	})
	t.Run("LS6", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			n := w.node()
			before := n.acquire(1, "a")
			end := onceAppliedThenCut(n)
			_, err := n.Release(w.Context(), w.group, 1, "a")
			end()
			wantUnknown(w, err)
			if after := n.acquire(1, "a"); after.Epoch <= before.Epoch {
				w.Errorf("acquired after a release: epoch %d, and %d before", after.Epoch, before.Epoch)
			}
		})
	})
}

// An acquisition that was applied without an answer, and not undone either: another owner of the same store takes the live
// lease, with the same epoch.
func TestAnotherTakesUnknownAcquisition(t *testing.T) {
	t.Run("LS2", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			n, other := w.node(), w.node()
			n.acquire(1, "x")
			n.release(1, "x")
			end := onceAppliedThenCut(n)
			ctx, cancel := context.WithTimeout(w.Context(), 3*time.Second)
			defer cancel()
			_, _, err := n.Acquire(ctx, w.group, 1, "a", 10*ttl)
			wantUnknown(w, err)
			time.Sleep(2 * ttl) // the background gives up
			end()
			held := other.owners()
			if len(held) != 1 || held[0].Owner != "a" {
				w.Fatalf("got %v", held)
			}
			lease, acquired, err := n.Acquire(w.Context(), w.group, 1, "b", ttl)
			if err != nil || acquired {
				w.Errorf("b took the live lease of a, epoch %d, with epoch %d: %v", held[0].Epoch, lease.Epoch, err)
			}
		})
	})
	t.Run("LS37", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			n, other := w.node(), w.node()
			n.acquire(1, "x")
			n.release(1, "x")
			first, err := n.OpenSession(w.Context(), dynamolease.Node{Service: w.service, Name: "n", Address: "here:1"}, 10*ttl)
			if err != nil {
				w.Fatal(err)
			}
			end := onceAppliedThenCut(n)
			ctx, cancel := context.WithTimeout(w.Context(), 3*time.Second)
			defer cancel()
			_, _, err = first.Acquire(ctx, w.group, 1)
			wantUnknown(w, err)
			time.Sleep(2 * ttl)
			end()
			held := other.owners()
			if len(held) != 1 || held[0].Session != first.ID() || first.Remaining() == 0 {
				w.Fatalf("got %v", held)
			}
			second, err := n.OpenSession(w.Context(), dynamolease.Node{Service: w.service, Name: "n", Address: "here:1"}, ttl)
			if err != nil {
				w.Fatal(err)
			}
			lease, acquired, err := second.Acquire(w.Context(), w.group, 1)
			if err != nil || acquired {
				w.Errorf("taken from a session that has %v left, epoch %d, with epoch %d: %v", first.Remaining(), held[0].Epoch, lease.Epoch, err)
			}
		})
	})
}

// Where there was no row, an acquisition without an answer and its repetition are two acquisitions.
func TestEpochOfRepeatedFirstAcquisition(t *testing.T) {
	t.Run("LS9", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			n, other := w.node(), w.node()
			end := onceAppliedThenCut(n)
			ctx, cancel := context.WithTimeout(w.Context(), 3*time.Second)
			defer cancel()
			_, _, err := n.Acquire(ctx, w.group, 1, "a", 10*ttl)
			wantUnknown(w, err)
			time.Sleep(2 * ttl)
			end()
			held := other.owners()
			if len(held) != 1 {
				w.Fatalf("got %v", held)
			}
			if lease := n.acquire(1, "a"); lease.Epoch != held[0].Epoch {
				w.Errorf("the call repeated: epoch %d, and %d before", lease.Epoch, held[0].Epoch)
			}
		})
	})
}

// standsStill is an answer that came, and a process that does not run until d later.
func standsStill(d time.Duration) dynamotest.Fault {
	return dynamotest.Around(nil, func() { time.Sleep(d) })
}

// Rows are judged by a later time than that at which they were read: a lease that is live all the time is not listed.
func TestOwnersJudgesOldRows(t *testing.T) {
	t.Run("LS21", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			n, other := w.node(), w.node()
			n.acquire(1, "a")
			time.Sleep(ttl - time.Second)
			other.Path.Next("Query", standsStill(8*time.Second))
			var running sync.WaitGroup
			running.Go(func() {
				time.Sleep(100 * time.Millisecond)
				if len(n.renew("a", 1)) != 1 {
					w.Error("not renewed")
				}
				time.Sleep(4 * time.Second)
				n.renew("a", 1)
			})
			list := other.owners()
			running.Wait()
			if len(list) != 1 {
				w.Errorf("a lease that was live all the time is not listed")
			}
		})
	})
	t.Run("LS27", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			n, other := w.node(), w.node()
			n.heartbeat("a", "here:1")
			time.Sleep(ttl - time.Second)
			other.Path.Next("Query", standsStill(8*time.Second))
			var running sync.WaitGroup
			running.Go(func() {
				time.Sleep(100 * time.Millisecond)
				n.heartbeat("a", "here:1")
				time.Sleep(4 * time.Second)
				n.heartbeat("a", "here:1")
			})
			list := other.members()
			running.Wait()
			if len(list) != 1 {
				w.Errorf("a member that was one all the time is not listed")
			}
		})
	})
}

// The answer of fenced work that comes late puts an older row into the store's memory than renewals did meanwhile; and
// Renew decides from the memory alone that the lease is lost.
func TestRenewDecidesFromMemory(t *testing.T) {
	t.Run("LS12", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			n := w.node()
			lease := n.acquire(1, "a")
			n.Path.Next("UpdateItem", standsStill(8*time.Second))
			var running sync.WaitGroup
			running.Go(func() {
				if err := n.Checkpoint(w.Context(), lease, []byte("x")); err != nil {
					w.Error(err)
				}
			})
			time.Sleep(6 * time.Second)
			kept := n.renew("a", 1)
			running.Wait()
			time.Sleep(3 * time.Second)
			n.Path.Next("Query", standsStill(4400*time.Millisecond))
			if list := n.renew("a", 0, 1); len(list) != 1 {
				w.Errorf("told that it is lost, with %v left", kept[0].Remaining())
			}
		})
	})
}

// An extension without an answer, and then a shorter one: the row's expiry goes back. (Nobody was told of the later one.)
func TestExpiryGoesBack(t *testing.T) {
	t.Run("LS3", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			n := w.node(func(o *dynamolease.Options) { o.Renewal = dynamolease.EachItem })
			n.acquire(1, "a")
			end := onceAppliedThenCut(n)
			ctx, cancel := context.WithTimeout(w.Context(), 2*time.Second)
			defer cancel()
			_, err := n.Renew(ctx, w.group, []int{1}, "a", 4*ttl)
			end()
			wantUnknown(w, err)
			before := numberOf(n.row(1)["exp"])
			n.renew("a", 1)
			if after := numberOf(n.row(1)["exp"]); after < before {
				w.Errorf("the row's expiry went from %s back to %s", before, after)
			}
		})
	})
}

// Work that was applied without an answer, and then the row is deleted (its lease expired long ago): the caller is told
// that nothing was written.
func TestTransactDeniesWhatItDid(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		n := w.node()
		lease := n.acquire(1, "a")
		n.Path.Next("TransactWriteItems", dynamotest.All(
			dynamotest.LoseResponse(),
			dynamotest.Around(nil, func() {
				_, err := w.Direct().DeleteItem(context.Background(), &dynamodb.DeleteItemInput{TableName: &w.Table, Key: w.leaseKey(1)})
				if err != nil {
					w.Error(err)
				}
			}),
		))
		err := n.Transact(w.Context(), lease, []byte("x"), w.increment("work"))
		if done := w.count("work"); done == "1" && err != nil && !errors.Is(err, dynamolease.ErrUnknownOutcome) {
			w.Errorf("the work was done, and the caller was told: %v", err)
		}
	})
}
