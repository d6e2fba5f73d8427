package dynamolease_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// told are the requests that a store has told of.
type told struct {
	mu   sync.Mutex
	list []dynamolease.Request
}

func (r *told) note(_ context.Context, request dynamolease.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, request)
}

// take returns what was told since the last time.
func (r *told) take() []dynamolease.Request {
	synctest.Wait() // for the queue
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.list
	r.list = nil
	return list
}

func (w *world) toldNode() (*node, *told) {
	w.Helper()
	r := new(told)
	n := w.node(func(o *dynamolease.Options) { o.OnRequest = r.note })
	r.take()
	return n, r
}

// Each request is told of, with what it consumed.
func TestOnRequestUnits(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		n, r := w.toldNode()
		var lease dynamolease.Lease
		for _, step := range []struct {
			name string
			call func()
			want []dynamolease.Request
		}{
			{"acquire", func() { lease = n.acquire(1, "A") }, []dynamolease.Request{{Operation: "GetItem", ReadUnits: 1}, {Operation: "UpdateItem", WriteUnits: 1}}},
			{"renew", func() { n.renew("A", 1) }, []dynamolease.Request{{Operation: "TransactWriteItems", WriteUnits: 2}}},
			{"owners", func() { n.owners() }, []dynamolease.Request{{Operation: "Query", ReadUnits: 1}}},
			{"transact", func() {
				if err := n.Transact(w.Context(), lease, nil, w.increment("n"), w.increment("m")); err != nil {
					w.Error(err)
				}
			}, []dynamolease.Request{{Operation: "TransactWriteItems", WriteUnits: 6}}},
			{"reap", func() { n.reap(dynamolease.ReapConfig{}) }, []dynamolease.Request{{Operation: "GetItem", ReadUnits: 1}, {Operation: "Scan", ReadUnits: 0.5}, {Operation: "UpdateItem", WriteUnits: 1}}},
		} {
			step.call()
			got := r.take()
			if len(got) != len(step.want) {
				w.Errorf("%s: %+v", step.name, got)
				continue
			}
			for i, want := range step.want {
				want.Outcome, want.Duration = dynamolease.RequestDone, got[i].Duration
				if got[i] != want {
					w.Errorf("%s: %+v, want %+v", step.name, got[i], want)
				}
			}
		}
	})
}

// Each attempt is told of, with what became of it.
func TestOnRequestOutcomes(t *testing.T) {
	want := map[faultKind]dynamolease.RequestOutcome{
		harmless: dynamolease.RequestDone, notDone: dynamolease.RequestRetried, unknown: dynamolease.RequestUnknown, hopeless: dynamolease.RequestFailed,
	}
	for _, fault := range faults {
		if fault.name == "twice" {
			continue // its second delivery is refused
		}
		t.Run(fault.name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				n, r := w.toldNode()
				n.Path.Next("UpdateItem", fault.fault)
				_, err := n.Heartbeat(w.Context(), dynamolease.Node{Service: w.service, Name: "A", Address: "host"}, ttl)
				got := r.take()
				if len(got) < 2 || got[1].Outcome != want[fault.kind] || got[1].Operation != "UpdateItem" || (got[1].Err == nil) != (fault.kind == harmless) {
					w.Fatalf("%+v, %v", got, err)
				}
				if len(got) > 2 && got[2].Outcome != dynamolease.RequestDone && got[2].Outcome != dynamolease.RequestRefused {
					w.Errorf("then %+v", got[2])
				}
				if fault.waits && got[1].Duration < time.Second {
					w.Errorf("took %v", got[1].Duration)
				}
			})
		})
	}
}

func TestOnRequestRefused(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		n, r := w.toldNode()
		n.heartbeat("A", "host")
		w.node().heartbeat("A", "other")
		r.take()
		n.heartbeat("A", "host")
		got := r.take()
		var refused *types.ConditionalCheckFailedException
		if len(got) != 2 || got[0].Outcome != dynamolease.RequestRefused || !errors.As(got[0].Err, &refused) || got[1].Outcome != dynamolease.RequestDone {
			w.Errorf("%+v", got)
		}
		ctx, cancel := context.WithCancel(w.Context())
		cancel()
		if _, err := n.Heartbeat(ctx, dynamolease.Node{Service: w.service, Name: "A", Address: "host"}, ttl); err == nil || len(r.take()) != 0 {
			w.Error("told of a request that was not made")
		}
	})
}
