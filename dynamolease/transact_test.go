package dynamolease_test

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// increment is a write that is not idempotent.
func (w *world) increment(name string) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &w.Table, Key: key("C#"+w.group, name),
		UpdateExpression:          aws.String("ADD n :one"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": number("1")},
	}}
}

// gate is a condition that holds while there is such a row.
func (w *world) gate() types.TransactWriteItem {
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: &w.Table, Key: key("C#"+w.group, "gate"), ConditionExpression: aws.String("attribute_exists(pk)"),
	}}
}

// count is a counter's value, "" before the first increment.
func (w *world) count(name string) string {
	w.Helper()
	out, err := w.Direct().GetItem(context.Background(), &dynamodb.GetItemInput{
		TableName: &w.Table, Key: key("C#"+w.group, name), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		w.Fatal(err)
	}
	return numberOf(out.Item["n"])
}

func (w *world) wantCount(want string) {
	w.Helper()
	if got := w.count("counter"); got != want {
		w.Errorf("the counter is %q, want %q", got, want)
	}
}

func (n *node) transact(ctx context.Context) error {
	return n.Transact(ctx, n.lease, nil, n.w.increment("counter"))
}

// After any one fault the items were written once, and the call says so.
func TestTransactOnce(t *testing.T) {
	for _, fault := range faults {
		for mode, how := range modes {
			t.Run(fault.name+"/"+mode, func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					a := w.node(how)
					prepareFenced(a)
					a.Path.Next("TransactWriteItems", fault.fault)
					if err := a.transact(w.Context()); (err != nil) != (fault.kind == hopeless) {
						w.Errorf("transact: %v", err)
					}
					want := "1"
					if fault.kind == hopeless {
						want = ""
					}
					w.wantCount(want)
				})
			})
		}
	}
}

// A plain renewal of the same lease comes between the lost answer and the next attempt, and changes the row's rev.
func TestTransactAndRenew(t *testing.T) {
	for _, lost := range []dynamotest.Fault{dynamotest.LoseResponse(), dynamotest.LoseRequest()} {
		inVirtualTime(t, func(w *world) {
			a := w.node(modes["each item"])
			prepareFenced(a)
			renew := dynamotest.Around(func() { a.renew("a", 1) }, nil)
			a.Path.Next("TransactWriteItems", dynamotest.All(renew, lost)) // the first is refused
			a.Path.Next("TransactWriteItems", lost)
			a.Path.Next("TransactWriteItems", renew)
			if err := a.Transact(w.Context(), a.lease, []byte("6"), w.increment("counter")); err != nil {
				w.Errorf("transact: %v", err)
			}
			w.wantCount("1")
			checkCheckpoint(a)
			if got := a.renew("a", 1); len(got) != 1 {
				w.Errorf("renewed %+v", got)
			}
			a.wantCheckpoint("6")
		})
	}
}

// LS41: the caller gave up and went on; what arrives late is not applied on top of what came after it.
func TestTransactLate(t *testing.T) {
	for name, next := range map[string]func(n *node) string{
		"another": func(n *node) string {
			if err := n.transact(n.w.Context()); err != nil {
				n.w.Error(err)
			}
			return "1"
		},
		"taken": func(n *node) string { n.w.expire(); n.w.node().acquire(1, "b"); return "" },
	} {
		t.Run("LS41/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, late := w.node(), newMailbox()
				prepareFenced(a)
				a.Path.Next("TransactWriteItems", late.post())
				w.wantUnknown("transact", a.transact(w.giveUp()))
				want := next(a)
				late.deliver()
				w.wantCount(want)
			})
		})
	}
}

// An extension keeps the epoch, and so it settles nothing: what arrives after it is applied, and
// work that knows nothing of it is refused.
func TestExtensionSettlesNothing(t *testing.T) {
	for name, extend := range map[string]func(n *node) dynamolease.Lease{
		"renew":   func(n *node) dynamolease.Lease { return n.renew("a", 1)[0] },
		"acquire": func(n *node) dynamolease.Lease { return n.acquire(1, "a") },
		"all":     func(n *node) dynamolease.Lease { return n.acquireAll("a", []int{1, 2})[0] },
	} {
		t.Run("LS46/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, late := w.node(), newMailbox()
				prepareFenced(a)
				a.Path.Next("TransactWriteItems", late.post())
				w.wantUnknown("transact", a.transact(w.giveUp()))
				extended := extend(a)
				late.deliver()
				w.wantCount("1")
				for _, lease := range []dynamolease.Lease{a.lease, extended} {
					err := a.Transact(w.Context(), lease, []byte("6"), w.increment("counter"))
					if !errors.Is(err, dynamolease.ErrEarlierApplied) {
						w.Errorf("transact under %+v: %v", lease, err)
					}
				}
				w.wantCount("1")
			})
		})
	}
}

// A condition of the caller's own does not hold: that is the caller's matter, with the reasons in order, and it stays so.
func TestTransactRefusedItems(t *testing.T) {
	for name, lost := range map[string]bool{"at once": false, "after a lost request, which arrives later": true} {
		t.Run("LS41/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, late := w.node(), newMailbox()
				prepareFenced(a)
				if lost {
					a.Path.Next("TransactWriteItems", late.post())
				}
				err := a.Transact(w.Context(), a.lease, nil, w.increment("counter"), w.gate())
				var cancelled *types.TransactionCanceledException
				if !errors.As(err, &cancelled) || aws.ToString(cancelled.CancellationReasons[2].Code) != "ConditionalCheckFailed" {
					w.Fatalf("transact: %v", err)
				}
				w.Put(key("C#"+w.group, "gate"))
				late.deliver()
				if !errors.Is(err, dynamolease.ErrUnknownOutcome) {
					w.wantCount("") // it was said that nothing was written
				}
				before := w.count("counter")
				if err := a.Transact(w.Context(), a.lease, nil, w.increment("counter"), w.gate()); err != nil || before == w.count("counter") {
					w.Errorf("again: %v, from %q to %q", err, before, w.count("counter"))
				}
			})
		})
	}
}

// Fenced: the new holder is named, and nothing is written. What was written before is not denied.
func TestTransactFenced(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, b := w.node(), w.node()
		prepareFenced(a)
		a.release(1, "a")
		var fenced *dynamolease.FencedError
		if err := a.transact(w.Context()); !errors.As(err, &fenced) || fenced.Holder.Owner != "" || fenced.Holder.Epoch != 7 {
			w.Errorf("released: %v", err)
		}
		b.open("b", ttl)
		b.lease = b.take(1)
		fenced = nil
		if err := a.transact(w.Context()); !errors.As(err, &fenced) || fenced.Holder.Owner != "b" || fenced.Holder.Epoch != 8 || fenced.Holder.Session != b.session.ID() {
			w.Errorf("taken: %v", err)
		}
		w.wantCount("")
	})
	for _, next := range []string{"took over", "took over and worked"} {
		t.Run(next, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, b := w.node(), w.node()
				prepareFenced(a)
				door := dynamotest.NewDoor()
				a.Path.Next("TransactWriteItems", dynamotest.LoseResponse())
				a.Path.Next("TransactWriteItems", door.Hold)
				done := make(chan error)
				go func() { done <- a.transact(w.Context()) }()
				<-door.Arrived()
				a.release(1, "a")
				b.lease = b.acquire(1, "b")
				if next != "took over" {
					if err := b.Transact(w.Context(), b.lease, []byte("b's")); err != nil {
						w.Error(err)
					}
				}
				door.Release()
				w.wantCount("1")
				if err := <-done; err != nil && !errors.Is(err, dynamolease.ErrUnknownOutcome) {
					w.Errorf("it was written, and is said not to be: %v", err)
				}
			})
		})
	}
}
