package dynamolease_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// Every write whose answers were all lost says so, and looking at it again resolves it.
func TestLostAnswerIsTold(t *testing.T) {
	for i, op := range operations {
		if op.write {
			t.Run("C04/"+op.name, func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					for j, fault := range faults {
						if fault.name == "lost response" {
							w.everyFault(i, j, 0, ttl+2*time.Second)
						}
					}
				})
			})
		}
	}
}

// After a hang, the next attempt starts a sixth of the ttl later at the latest, and the lease is kept.
func TestHangLeavesTimeForAnother(t *testing.T) {
	for _, op := range operations {
		t.Run("C55/"+op.name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				n := w.faultyNode(op.each)
				op.prepare(n)
				var sent []time.Time
				n.Path.Every(op.request, dynamotest.Around(func() { sent = append(sent, time.Now()) }, nil))
				n.Path.Next(op.request, dynamotest.Hang())
				if err := op.call(w.Context(), n); err != nil {
					w.Fatal(err)
				}
				limit := requestTimeout(op.untimed) + 20*time.Millisecond
				if len(sent) != 2+op.then || sent[1].Sub(sent[0]) > limit {
					w.Errorf("sent at %v, want another %v later at the latest", sent, limit)
				}
				op.check(n)
			})
		})
	}
}

// A client that does not pass the options of its calls on hides the Date of each response. That is an error of its
// author's, to be told; it must not become an endless stream of requests.
func TestClientThatDropsOptions(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		n := w.node()
		requests := 0
		tooMany := errors.New("too many requests")
		n.Path.Every("", func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
			if requests++; requests > 100 {
				return nil, tooMany
			}
			return send(req)
		})
		store, err := dynamolease.New(dropper{n.raw}, w.Table)
		if err != nil {
			w.Fatal(err)
		}
		_, _, err = store.Acquire(w.Context(), w.group, 1, "a", ttl)
		store.Close()
		if requests > 50 {
			w.Errorf("%d requests at one moment, then %v", requests, err)
		}
	})
}

// A dropper is a client that does not pass options on.
type dropper struct{ *dynamodb.Client }

func (d dropper) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return d.Client.GetItem(ctx, in)
}

func (d dropper) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return d.Client.UpdateItem(ctx, in)
}
