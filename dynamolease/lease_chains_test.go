package dynamolease_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// ownershipWrites are writes that ask who owns partition 1, which the node holds as "a".
var ownershipWrites = map[string]func(n *node) error{
	"Acquire": func(n *node) error { n.acquire(1, "a"); return nil },
	"Renew": func(n *node) error {
		leases, err := n.Renew(n.w.Context(), n.w.group, []int{1}, "a", ttl)
		if len(leases) != 1 {
			n.w.Errorf("renewed %+v", leases)
		}
		return err
	},
	"Revoke": func(n *node) error {
		_, _, err := n.Revoke(n.w.Context(), n.w.group, 1, n.lease.Epoch)
		return err
	},
	"Release": func(n *node) error { n.release(1, "a"); return nil },
}

// fencedWrites ask how far the work under the node's lease has got.
var fencedWrites = map[string]func(n *node) error{
	"Checkpoint": func(n *node) error { return n.Checkpoint(n.w.Context(), n.lease, []byte("6")) },
	"Transact":   func(n *node) error { return n.transact(n.w.Context()) },
	"Resume": func(n *node) (err error) {
		n.lease, err = n.Resume(n.w.Context(), n.lease)
		return err
	},
}

// refusals counts the requests of a node that were refused.
func refusals(refused *int) func(*dynamolease.Options) {
	return func(o *dynamolease.Options) {
		o.Renewal = dynamolease.EachItem
		o.OnRequest = func(_ context.Context, r dynamolease.Request) {
			if r.Outcome == dynamolease.RequestRefused {
				*refused++
			}
		}
	}
}

// Fenced work that lands while ownership is written refuses it not, and the other way round, in
// one process or in two.
func TestOwnershipAndWorkLS43(t *testing.T) {
	for ownership, own := range ownershipWrites {
		for fenced, work := range fencedWrites {
			t.Run(ownership+" meets "+fenced, func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					var refused int
					a, worker := w.node(refusals(&refused)), w.node(refusals(&refused))
					prepareFenced(a)
					a.checkpoint("5") // the first one may refuse a write that dates the row
					worker.lease = a.lease
					a.Path.Next("UpdateItem", dynamotest.Around(func() {
						if err := work(worker); err != nil {
							w.Errorf("%s: %v", fenced, err)
						}
					}, nil))
					err := own(a)
					if synctest.Wait(); err != nil || refused != 0 {
						w.Errorf("%s: %v, %d refusals", ownership, err, refused)
					}
				})
			})
			if ownership == "Release" {
				continue // ends the lease that the work is under
			}
			t.Run(fenced+" meets "+ownership, func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					var refused int
					a, worker := w.node(refusals(&refused)), w.node(refusals(&refused))
					prepareFenced(a)
					a.checkpoint("5")
					worker.lease = a.lease
					meet := dynamotest.Around(func() {
						if err := own(a); err != nil {
							w.Errorf("%s: %v", ownership, err)
						}
					}, nil)
					if fenced == "Transact" {
						worker.Path.Next("TransactWriteItems", meet)
					} else {
						worker.Path.Next("UpdateItem", meet)
					}
					err := work(worker)
					if synctest.Wait(); err != nil || refused != 0 {
						w.Errorf("%s: %v, %d refusals", fenced, err, refused)
					}
				})
			})
		}
	}
}

// acquisitions are the ways to get partition 1 from a holder that is gone.
var acquisitions = map[string]func(n *node) dynamolease.Lease{
	"Acquire":         func(n *node) dynamolease.Lease { return n.acquire(1, "b") },
	"AcquireAll":      func(n *node) dynamolease.Lease { return n.acquireAll("b", []int{1, 2})[0] },
	"Session.Acquire": func(n *node) dynamolease.Lease { return n.take(1) },
}

// A fenced write of the former holder lands at the last moment: the next holder has it in its
// checkpoint, also where the answer to its own write was lost; and what lands later is refused.
func TestAcquisitionHasTheCheckpointLS46(t *testing.T) {
	for name, acquire := range acquisitions {
		for answer, lost := range map[string]bool{"answered": false, "answer lost": true} {
			for first, before := range map[string]string{"the first": "", "another": "5"} {
				t.Run(name+"/"+answer+"/"+first, func(t *testing.T) {
					inVirtualTime(t, func(w *world) {
						a, b := w.node(), w.node()
						prepareFenced(a)
						if before != "" {
							a.checkpoint(before)
						}
						w.expire()
						b.open("z", ttl) // so that the next write is the one that acquires
						request := "UpdateItem"
						if name == "AcquireAll" {
							request = "TransactWriteItems"
						}
						land := dynamotest.Around(func() { a.checkpoint("6") }, nil)
						if name == "Session.Acquire" {
							b.open("b", ttl)
						}
						fault := land
						if lost {
							fault = dynamotest.All(land, dynamotest.LoseResponse())
						}
						b.Path.Next(request, fault)
						lease := acquire(b)
						if string(lease.Checkpoint) != "6" {
							w.Errorf("acquired with the checkpoint %q", lease.Checkpoint)
						}
						var fenced *dynamolease.FencedError
						if err := a.Checkpoint(w.Context(), a.lease, []byte("7")); !errors.As(err, &fenced) {
							w.Errorf("the former holder's next checkpoint: %v", err)
						}
						if err := b.Checkpoint(w.Context(), lease, []byte("8")); err != nil {
							w.Errorf("the next holder's first checkpoint: %v", err)
						}
					})
				})
			}
		}
	}
}

// A row with a checkpoint has no ttl, whatever is written to it and whenever the checkpoint came.
func TestCheckpointIsNotDatedLS54(t *testing.T) {
	for name, own := range ownershipWrites {
		for when, under := range map[string]bool{"before": false, "under way": true} {
			t.Run(name+"/"+when, func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					a, worker := w.node(), w.node()
					prepareFenced(a)
					worker.lease = a.lease
					if a.row(1)["ttl"] == nil {
						w.Fatal("a row without a checkpoint has no ttl")
					}
					if under {
						a.Path.Next("", dynamotest.Around(func() { worker.checkpoint("5") }, nil))
					} else {
						worker.checkpoint("5")
					}
					if err := own(a); err != nil {
						w.Error(err)
					}
					if row := a.row(1); row["ttl"] != nil || row["checkpoint"] == nil {
						w.Errorf("the row is %v", row)
					}
				})
			})
		}
	}
}
