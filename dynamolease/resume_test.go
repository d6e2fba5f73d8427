package dynamolease_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// Work whose outcome was unknown never doubles what the caller does next: it either shows, or can't be applied any more.
func TestResume(t *testing.T) {
	for name, test := range map[string]func(w *world, a *node, lease dynamolease.Lease){
		"not applied, and barred":              resumesBarred,
		"applied":                              resumesApplied,
		"applied before the next work":         refusesAfterApplied,
		"applied while the next work is due":   refusesWhileApplied,
		"nothing in doubt":                     resumesPlainly,
		"taken by another":                     resumeIsFenced,
		"the store gives no answer, then does": resumesLater,
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a := w.node()
				test(w, a, a.acquire(1, "a"))
			})
		})
	}
}

// add is a transaction that must not be applied twice.
func (w *world) add() types.TransactWriteItem {
	expression := "ADD words :one"
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &w.Table, Key: key("R#"+w.group, "words"), UpdateExpression: &expression,
		ExpressionAttributeValues: map[string]attributeValue{":one": number("1")},
	}}
}

func (w *world) words() string {
	w.Helper()
	out, err := w.Direct().GetItem(context.Background(), &dynamodb.GetItemInput{TableName: &w.Table, Key: key("R#"+w.group, "words")})
	if err != nil {
		w.Fatal(err)
	}
	return numberOf(out.Item["words"])
}

// inDoubt makes a transaction whose outcome stays unknown: its only attempt meets the fault, and then the caller has no
// more time.
func (w *world) inDoubt(a *node, lease dynamolease.Lease, fault dynamotest.Fault) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), time.Second)
	defer cancel()
	a.Path.Next("TransactWriteItems", fault)
	if err := a.Transact(ctx, lease, []byte("1"), w.add()); !errors.Is(err, dynamolease.ErrUnknownOutcome) {
		w.Fatalf("got %v, want an unknown outcome", err)
	}
}

func resumesBarred(w *world, a *node, lease dynamolease.Lease) {
	deliver := make(chan struct{})
	w.inDoubt(a, lease, dynamotest.All(dynamotest.HangAfter(), dynamotest.Late(deliver)))
	resumed, err := a.Resume(w.Context(), lease)
	if err != nil || len(resumed.Checkpoint) != 0 || resumed.Remaining() != lease.Remaining() {
		w.Fatalf("resumed %+v, %v", resumed, err)
	}
	close(deliver)
	if err := a.Transact(w.Context(), lease, []byte("1"), w.add()); !errors.Is(err, dynamolease.ErrEarlierApplied) {
		w.Errorf("under the lease from before: %v, want that it is refused", err)
	}
	if err := a.Transact(w.Context(), resumed, []byte("1"), w.add()); err != nil {
		w.Fatal(err)
	}
	a.Path.Close() // waits for the late delivery
	if got := w.words(); got != "1" {
		w.Errorf("applied %s times", got)
	}
}

func resumesApplied(w *world, a *node, lease dynamolease.Lease) {
	w.inDoubt(a, lease, dynamotest.HangAfter())
	got, err := a.Resume(w.Context(), lease)
	if err != nil || string(got.Checkpoint) != "1" {
		w.Fatalf("resumed %+v, %v", got, err)
	}
	if err := a.Transact(w.Context(), got, []byte("2"), w.add()); err != nil {
		w.Fatal(err)
	}
	if got := w.words(); got != "2" {
		w.Errorf("words %s, want 2", got)
	}
}

func refusesAfterApplied(w *world, a *node, lease dynamolease.Lease) {
	w.inDoubt(a, lease, dynamotest.HangAfter())
	if err := a.Transact(w.Context(), lease, []byte("1"), w.add()); !errors.Is(err, dynamolease.ErrEarlierApplied) {
		w.Fatalf("got %v, want that the earlier one was applied", err)
	}
	if got := w.words(); got != "1" {
		w.Errorf("applied %s times", got)
	}
	resumed, err := a.Resume(w.Context(), lease)
	if err != nil || string(resumed.Checkpoint) != "1" {
		w.Fatalf("resumed %+v, %v", resumed, err)
	}
	if err := a.Checkpoint(w.Context(), resumed, []byte("9")); err != nil {
		w.Errorf("after it was told: %v", err)
	}
}

// The earlier transaction arrives while the next one is on its way to find out.
func refusesWhileApplied(w *world, a *node, lease dynamolease.Lease) {
	deliver := make(chan struct{})
	w.inDoubt(a, lease, dynamotest.All(dynamotest.HangAfter(), dynamotest.Late(deliver)))
	a.Path.Next("TransactWriteItems", dynamotest.Around(func() { close(deliver); time.Sleep(time.Second) }, func() {}))
	err := a.Transact(w.Context(), lease, []byte("1"), w.add())
	if !errors.Is(err, dynamolease.ErrEarlierApplied) {
		w.Errorf("got %v, want that the earlier one was applied", err)
	}
	if got := w.words(); got != "1" {
		w.Errorf("applied %s times", got)
	}
}

func resumesPlainly(w *world, a *node, lease dynamolease.Lease) {
	if err := a.Checkpoint(w.Context(), lease, []byte("7")); err != nil {
		w.Fatal(err)
	}
	a.Path.Reset()
	if got, err := a.Resume(w.Context(), lease); err != nil || string(got.Checkpoint) != "7" || got.Epoch != lease.Epoch {
		w.Errorf("resumed %+v, %v", got, err)
	}
	if a.Path.Count("GetItem") != 1 || a.Path.Count("UpdateItem") != 1 || a.Path.Count("") != 2 {
		w.Errorf("requests %v, want one read and one write", a.Path.Requests())
	}
}

func resumeIsFenced(w *world, a *node, lease dynamolease.Lease) {
	w.inDoubt(a, lease, dynamotest.Hang())
	w.expire()
	w.node().acquire(1, "b")
	var fenced *dynamolease.FencedError
	if _, err := a.Resume(w.Context(), lease); !errors.As(err, &fenced) || fenced.Holder.Owner != "b" {
		w.Errorf("got %v, want fenced by b", err)
	}
	if err := a.Transact(w.Context(), lease, nil, w.add()); !errors.As(err, &fenced) {
		w.Errorf("got %v, want fenced", err)
	}
}

func resumesLater(w *world, a *node, lease dynamolease.Lease) {
	w.inDoubt(a, lease, dynamotest.HangAfter())
	stop := a.Path.Every("GetItem", dynamotest.ServerError(503))
	if err := a.Transact(w.Context(), lease, []byte("1"), w.add()); !errors.Is(err, dynamolease.ErrEarlierApplied) {
		w.Errorf("got %v, want that the earlier one was applied", err)
	}
	if _, err := a.Resume(w.Context(), lease); err == nil {
		w.Error("resumed without an answer")
	}
	stop()
	if got, err := a.Resume(w.Context(), lease); err != nil || string(got.Checkpoint) != "1" {
		w.Errorf("resumed %+v, %v", got, err)
	}
}

// A lease that the caller never had would get through every fence: it names the very holder that the row has.
func TestFencedWorkWantsAnOwnLease(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, b := w.node(), w.node()
		a.acquire(1, "a")
		others := append(b.owners(), b.refused(1, "b"))
		b.Path.Reset()
		for _, lease := range others {
			for name, err := range map[string]error{
				"transact":   b.Transact(w.Context(), lease, []byte("b was here"), w.add()),
				"checkpoint": b.Checkpoint(w.Context(), lease, []byte("b was here")),
				"resume":     errorOf(b.Resume(w.Context(), lease)),
			} {
				var argument *dynamolease.ArgumentError
				if !errors.As(err, &argument) || argument.Argument != "lease" {
					w.Errorf("%s: got %v, want an ArgumentError for the lease", name, err)
				}
			}
		}
		if len(others) != 2 || b.Path.Count("") != 0 {
			w.Errorf("%d leases, %d requests", len(others), b.Path.Count(""))
		}
	})
}

func errorOf(_ dynamolease.Lease, err error) error { return err }
