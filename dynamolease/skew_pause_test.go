package dynamolease_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

// A patient client has no deadlines: those of a node whose clocks stand still do not pass while it is paused, but those
// of the bubble do.
type patient struct{ *dynamodb.Client }

func (p patient) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return p.Client.UpdateItem(context.WithoutCancel(ctx), in, opts...)
}

func (p patient) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, opts ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return p.Client.TransactWriteItems(context.WithoutCancel(ctx), in, opts...)
}

// patientNode is a node that can be paused during a write.
func (w *world) patientNode(how option) *node {
	w.Helper()
	n := w.node()
	store, err := dynamolease.New(patient{n.raw}, w.Table, how, func(o *dynamolease.Options) { o.Elapsed = n.Elapsed })
	if err != nil {
		w.Fatal(err)
	}
	n.Store = store
	w.Cleanup(store.Close)
	return n
}

// LS33: paused between reading the clock and writing, by a pause that none of its clocks shows, a node counts on its
// lease for no longer than the row allows.
func TestPausedBeforeWriting(t *testing.T) {
	acquire := func(ctx context.Context, n *node) ([]dynamolease.Lease, error) {
		lease, _, err := n.Acquire(ctx, n.w.group, 1, "a", ttl)
		return []dynamolease.Lease{lease}, err
	}
	renew := func(ctx context.Context, n *node) ([]dynamolease.Lease, error) {
		return n.Renew(ctx, n.w.group, []int{1}, "a", ttl)
	}
	for name, op := range map[string]struct {
		how  option
		call func(ctx context.Context, n *node) ([]dynamolease.Lease, error)
	}{
		"acquire": {modes["transactions"], acquire}, "renew": {modes["transactions"], renew}, "renew, each item": {modes["each item"], renew},
	} {
		for _, answer := range []struct {
			name  string
			fault dynamotest.Fault
			pause time.Duration // at the most: after half a ttl there is no other request
		}{
			{"answered", dynamotest.Delay(0), 2 * ttl},
			{"lost response", dynamotest.LoseResponse(), ttl/2 - 200*time.Millisecond},
			{"500 after", after(dynamotest.ServerError(500)), ttl/2 - 200*time.Millisecond},
		} {
			t.Run("LS33/"+name+"/"+answer.name, func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					for pause := 300 * time.Millisecond; pause < answer.pause; pause += testkit.Size[time.Duration](820, 410) * time.Millisecond {
						a := w.patientNode(op.how)
						a.pauseNextWrite(pause, answer.fault)
						leases, err := op.call(w.Context(), a)
						if err != nil && pause < ttl { // an acquisition of which nothing is left is an error
							w.Fatal(err)
						}
						for _, lease := range leases {
							a.wantNoLonger(lease, pause)
						}
						a.release(1, "a")
						w.expire()
					}
				})
			})
		}
	}
}

// wantNoLonger expects that a node that was paused counts on a lease for no longer than the row allows.
func (n *node) wantNoLonger(lease dynamolease.Lease, pause time.Duration) {
	n.w.Helper()
	if left, allowed := lease.Remaining(), time.Until(lease.ExpiresAt); left > max(0, allowed) {
		n.w.Errorf("after a pause of %v, %v left, but the row allows %v", pause, left, allowed)
	}
}

// pauseNextWrite has the node hold a lease, know the time as well as it can, and be paused during its next write.
func (n *node) pauseNextWrite(pause time.Duration, answer dynamotest.Fault) {
	n.w.Helper()
	n.acquire(1, "a")
	for range 30 {
		n.owners()
		time.Sleep(130 * time.Millisecond)
	}
	frozen := func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
		n.Freeze(pause)
		return send(req)
	}
	for _, op := range []string{"UpdateItem", "TransactWriteItems"} {
		n.Path.Next(op, dynamotest.All(answer, frozen))
	}
}

// LS33: as above, where the node finds out by reading that its write was applied.
func TestPausedBeforeWritingFoundByReading(t *testing.T) {
	for name, how := range modes {
		t.Run("LS33/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				const pause = 4 * time.Second
				a := w.patientNode(how)
				a.acquire(1, "a")
				time.Sleep(ttl - time.Second)
				write := 0
				for _, op := range []string{"UpdateItem", "TransactWriteItems"} {
					a.Path.Every(op, func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
						if write++; write == 1 {
							a.Freeze(pause)
							return after(dynamotest.ServerError(500))(req, send)
						}
						return dynamotest.ServerError(500)(req, send)
					})
				}
				leases, err := a.Renew(w.Context(), w.group, []int{1}, "a", ttl)
				if err != nil || len(leases) != 1 {
					w.Fatalf("renewed %v, %v: want the lease, found by reading", leases, err)
				}
				a.wantNoLonger(leases[0], pause)
			})
		})
	}
}
