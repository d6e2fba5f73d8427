package dynamolease_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// Cancelling the context of Acquire leaves no orphan, wherever the write was at that moment.
func TestAbandon(t *testing.T) {
	for _, test := range []struct {
		name    string
		fault   func(late *mailbox) dynamotest.Fault
		present bool
	}{
		{"applied", func(*mailbox) dynamotest.Fault { return dynamotest.HangAfter() }, true},
		{"applied, absent row", func(*mailbox) dynamotest.Fault { return dynamotest.HangAfter() }, false},
		{"never sent", func(*mailbox) dynamotest.Fault { return dynamotest.Hang() }, true},
		{"never sent, absent row", func(*mailbox) dynamotest.Fault { return dynamotest.Hang() }, false},
		{"delivered late", func(m *mailbox) dynamotest.Fault { return dynamotest.All(dynamotest.HangAfter(), m.post()) }, true},
		{"delivered late, absent row", func(m *mailbox) dynamotest.Fault { return dynamotest.All(dynamotest.HangAfter(), m.post()) }, false},
	} {
		t.Run("LS35/rival/"+test.name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, b, late := w.node(), w.node(), newMailbox()
				a.prepare(test.present)
				a.Path.Next("UpdateItem", test.fault(late))
				a.cancelledAcquire(time.Second)
				a.Close()
				start := time.Now()
				lease := b.acquire(1, "b")
				if took := time.Since(start); took > time.Second {
					w.Errorf("the rival waited for %v", took)
				}
				before := b.row(1)
				late.deliver()
				w.wantRow("the late acquisition", before, b.row(1))
				if left := lease.Remaining(); left < ttl*4/5 {
					w.Errorf("%v left", left)
				}
			})
		})
		t.Run("LS35/owner/"+test.name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, late := w.node(), newMailbox()
				a.prepare(test.present)
				a.Path.Next("UpdateItem", test.fault(late))
				a.cancelledAcquire(time.Second)
				start := time.Now()
				a.acquire(1, "a")
				if took := time.Since(start); took > time.Second {
					w.Errorf("the owner waited for %v", took)
				}
				a.Close()
				before := a.row(1)
				late.deliver()
				w.wantRow("what was left of the first call", before, a.row(1))
				checkHeld(a)
				if got := a.renew("a", 1); len(got) != 1 {
					w.Errorf("renewed %v", got)
				}
			})
		})
	}
}

// cancelledAcquire acquires partition 1 and cancels that after d.
func (n *node) cancelledAcquire(d time.Duration) {
	n.w.Helper()
	ctx, cancel := context.WithCancel(n.w.Context())
	defer cancel()
	time.AfterFunc(d, cancel)
	start := time.Now()
	lease, acquired, err := n.Acquire(ctx, n.w.group, 1, "a", ttl)
	n.w.wantUnknown("acquire", err)
	if acquired || lease.Remaining() != 0 {
		n.w.Errorf("%+v, %v beside an error", lease, acquired)
	}
	if !errors.Is(err, context.Canceled) {
		n.w.Errorf("error %v does not say that the context has ended", err)
	}
	if took := time.Since(start); took != d {
		n.w.Errorf("it ended after %v, its context after %v", took, d)
	}
}

// An extension whose answer was lost is not undone: the caller counts on the lease that it has.
func TestAbandonedExtension(t *testing.T) {
	for name, fault := range map[string]dynamotest.Fault{
		"applied": dynamotest.HangAfter(), "never sent": dynamotest.Hang(),
	} {
		t.Run("LS35/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, b := w.node(), w.node()
				lease := a.acquire(1, "a")
				a.Path.Next("UpdateItem", fault)
				a.cancelledAcquire(time.Second)
				a.Close()
				if a.Path.Count("UpdateItem") != 2 {
					w.Errorf("%d writes, want 2", a.Path.Count("UpdateItem"))
				}
				if held := b.refused(1, "b"); held.Epoch != lease.Epoch || lease.Remaining() != ttl-time.Second {
					w.Errorf("held %+v, and %v left of %+v", held, lease.Remaining(), lease)
				}
			})
		})
	}
}

// An acquisition is abandoned while nothing gets through, and its owner acquires at once when something does: what
// is still under way in the background, or arrives later, must not free the lease.
func TestAbandonedThenAcquired(t *testing.T) {
	for name, undone := range map[string]bool{"the undoing comes late": false, "the undoing comes between": true} {
		t.Run("LS35/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a := w.node()
				a.prepare(true)
				a.Path.Next("UpdateItem", dynamotest.LoseResponse())
				ctx := w.giveUp()
				door := dynamotest.NewDoor()
				late := newMailbox()
				undo := dynamotest.Fault(late.post())
				if undone {
					undo = door.Hold
				}
				a.Path.Next("UpdateItem", undo)
				_, _, err := a.Acquire(ctx, w.group, 1, "a", ttl)
				w.wantUnknown("acquire", err)
				if undone {
					<-door.Arrived()
					a.Path.Next("UpdateItem", dynamotest.Around(func() { door.Release(); a.Close() }, nil))
				} else {
					time.Sleep(time.Millisecond)
				}
				lease := a.acquire(1, "a")
				a.Close()
				late.deliver()
				if row := a.row(1); textOf(row["owner"]) != "a" || numberOf(row["epoch"]) != decimal(lease.Epoch) {
					w.Errorf("the lease %+v was freed: owner %q, epoch %s", lease, textOf(row["owner"]), numberOf(row["epoch"]))
				}
			})
		})
	}
}

// The first of very many attempts was the one that was applied.
func TestAbandonAfterManyAttempts(t *testing.T) {
	t.Run("LS35", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			const ttl = 3 * time.Minute
			a, b := w.node(), w.node()
			a.prepare(true)
			first := true
			stop := a.Path.Every("UpdateItem", func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
				if first {
					first = false
					return dynamotest.LoseResponse()(req, send)
				}
				return dynamotest.LoseRequest()(req, send)
			})
			_, _, err := a.Acquire(w.Context(), w.group, 1, "a", ttl)
			w.wantUnknown("acquire", err)
			stop()
			a.Close()
			if _, acquired, err := b.Acquire(w.Context(), w.group, 1, "b", ttl); err != nil || !acquired {
				w.Errorf("the rival does not get it: %v, %v; %d attempts before", acquired, err, a.Path.Count("UpdateItem"))
			}
		})
	})
}

// A row without the attribute ttl, which is for DynamoDB alone, stays one that can be used.
func TestAbandonOnARowWithoutTTL(t *testing.T) {
	for name, call := range map[string]func(a *node) error{
		"undone":   func(a *node) error { a.Close(); return nil },
		"released": func(a *node) error { _, err := a.Release(a.w.Context(), a.w.group, 1, "a"); return err },
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a := w.node()
				a.plant(1, "z", 7, "1")
				a.owners()
				a.Path.Next("UpdateItem", dynamotest.LoseRequest())
				_, _, err := a.Acquire(w.giveUp(), w.group, 1, "a", ttl)
				w.wantUnknown("acquire", err)
				if err := call(a); err != nil {
					w.Error(err)
				}
				a.Close()
				if lease := w.node().acquire(1, "b"); lease.Epoch != 8 {
					w.Errorf("epoch %d", lease.Epoch)
				}
			})
		})
	}
}

// An absent row: an epoch that somebody has seen is that of the one acquisition, and none after it is smaller.
func TestEpochOfAnAbsentRow(t *testing.T) {
	for _, test := range []struct {
		name string
		late bool // the first write arrives after the acquisition was given up
		next func(a *node)
		want func(seen, epoch int64) bool
	}{
		{name: "LS9/answered at last", want: func(seen, epoch int64) bool { return epoch == seen }},
		{name: "LS9/acquired again", next: func(a *node) { a.acquire(1, "a") }, want: func(seen, epoch int64) bool { return epoch == seen }},
		{name: "LS41/released", late: true, next: func(a *node) { a.release(1, "a") }, want: func(seen, epoch int64) bool { return epoch >= seen }},
	} {
		t.Run(test.name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, b, late := w.node(), w.node(), newMailbox()
				// What the node knows of the store's time is as vague as it gets at first, and precise later.
				a.Path.Next("GetItem", dynamotest.Delay(1600*time.Millisecond))
				a.Path.Next("GetItem", dynamotest.Hang()) // of what goes on in the background after Acquire
				var seen dynamolease.Lease
				look := func() {
					seen = b.refused(1, "b")
					for range 10 {
						a.members()
					}
				}
				if test.late {
					a.Path.Next("UpdateItem", late.post())
					a.Path.Next("UpdateItem", dynamotest.Around(func() { late.deliver(); look() }, nil))
				} else {
					a.Path.Next("UpdateItem", dynamotest.All(dynamotest.LoseResponse(), dynamotest.Around(nil, look)))
				}
				if test.next == nil {
					a.acquire(1, "a")
				} else {
					_, _, err := a.Acquire(w.giveUpAfter(1601*time.Millisecond), w.group, 1, "a", ttl)
					w.wantUnknown("acquire", err)
					synctest.Wait()
					test.next(a)
				}
				epoch, err := strconv.ParseInt(numberOf(a.row(1)["epoch"]), 10, 64)
				if err != nil || seen.Epoch == 0 || !test.want(seen.Epoch, epoch) {
					w.Errorf("epoch %d (%v), but %d was seen before", epoch, err, seen.Epoch)
				}
			})
		})
	}
}

func (w *world) giveUpAfter(d time.Duration) context.Context {
	ctx, cancel := context.WithCancel(w.Context())
	w.Cleanup(cancel)
	time.AfterFunc(d, cancel)
	return ctx
}
