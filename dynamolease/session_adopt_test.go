package dynamolease_test

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// Closing while an acquisition is on its way: it is not the caller's, and nobody else waits for it.
func TestSessionCloseWhileAcquiring(t *testing.T) {
	for _, dead := range []bool{false, true} {
		inVirtualTime(t, func(w *world) {
			a, b := w.node(), w.node()
			a.open("a", ttl)
			if dead {
				prepareClosed(a)
			}
			door, done := dynamotest.NewDoor(), make(chan error, 1)
			a.Path.Next("UpdateItem", door.Hold)
			go func() { _, _, err := a.session.Acquire(w.Context(), w.group, 1); done <- err }()
			<-door.Arrived()
			if err := a.session.Close(w.Context()); err != nil {
				w.Error(err)
			}
			door.Release()
			a.wantOver(<-done, dynamolease.ErrSessionClosed)
			b.acquire(1, "b")
		})
	}
}

// LS42, C33: a lease whose acquisition was never answered is the session's at the next call, with one epoch, and
// what the first call leaves behind does not free it; or it is freed in the background.
func TestSessionAdopts(t *testing.T) {
	for _, test := range []struct {
		name  string
		fault func(late *mailbox) dynamotest.Fault
		undo  string // what happens to the undoing
	}{
		{"applied", func(*mailbox) dynamotest.Fault { return dynamotest.LoseResponse() }, "in time"},
		{"applied", func(*mailbox) dynamotest.Fault { return dynamotest.LoseResponse() }, "between"},
		{"applied", func(*mailbox) dynamotest.Fault { return dynamotest.LoseResponse() }, "late"},
		{"applied", func(*mailbox) dynamotest.Fault { return dynamotest.LoseResponse() }, "never"},
		{"delivered late", (*mailbox).post, "in time"},
		{"delivered late", (*mailbox).post, "between"},
		{"delivered late", (*mailbox).post, "never"},
	} {
		t.Run("LS42/C33/"+test.name+", undone "+test.undo, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, late, undo, door := w.node(), newMailbox(), newMailbox(), dynamotest.NewDoor()
				prepareSession(a)
				a.Path.Next("UpdateItem", test.fault(late))
				switch test.undo {
				case "between":
					a.Path.Next("UpdateItem", door.Hold)
				case "late":
					a.Path.Next("UpdateItem", undo.post())
				case "never":
					a.Close()
				}
				_, _, err := a.session.Acquire(w.giveUp(), w.group, 1)
				w.wantUnknown("acquire", err)
				synctest.Wait()
				if test.undo == "in time" {
					a.Close()
				}
				again := make(chan dynamolease.Lease)
				go func() { again <- a.take(1) }()
				synctest.Wait()
				door.Release()
				lease := <-again
				late.deliver()
				undo.deliver()
				a.Close()
				if row := a.row(1); textOf(row["session"]) != a.session.ID() || numberOf(row["epoch"]) != decimal(lease.Epoch) {
					w.Errorf("the lease %+v was freed: %v", lease, row)
				}
				if lease.Epoch > 9 || lease.Remaining() != a.session.Remaining() || a.take(1).Epoch != lease.Epoch {
					w.Errorf("epoch %d, %v left", lease.Epoch, lease.Remaining())
				}
			})
		})
	}
}

// LS42, C33: what was acquired without being known is freed for others while the session goes on, and does not
// come back when it arrives late.
func TestSessionFreesWhatItDoesNotKnow(t *testing.T) {
	for name, fault := range map[string]func(late *mailbox) dynamotest.Fault{
		"applied": func(*mailbox) dynamotest.Fault { return dynamotest.HangAfter() }, "delivered late": (*mailbox).post,
	} {
		for state, prepare := range map[string]func(n *node){"free": prepareSession, "of a closed session": prepareClosed} {
			t.Run("LS42/C33/"+name+"/"+state, func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					a, b, late := w.node(), w.node(), newMailbox()
					prepare(a)
					a.Path.Next("UpdateItem", fault(late))
					_, _, err := a.session.Acquire(w.giveUp(), w.group, 1)
					w.wantUnknown("acquire", err)
					a.Close()
					a.beat()
					if next := b.acquire(1, "b"); next.Epoch > 9 {
						w.Errorf("epoch %d", next.Epoch)
					}
					before := b.row(1)
					late.deliver()
					w.wantRow("the late acquisition", before, b.row(1))
				})
			})
		}
	}
}

// A partition is acquired again while its release is on its way: what is freed in the end is not counted on.
func TestSessionAcquireDuringRelease(t *testing.T) {
	for name, release := range map[string]func(n *node) error{
		"Release":    func(n *node) error { _, err := n.session.Release(n.w.Context(), n.w.group, 1); return err },
		"ReleaseAll": func(n *node) error { return n.session.ReleaseAll(n.w.Context()) },
	} {
		t.Run("LS37/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, b := w.node(), w.node()
				a.open("a", ttl)
				a.take(1)
				door, released, again := dynamotest.NewDoor(), make(chan error, 1), make(chan dynamolease.Lease, 1)
				stop := a.Path.Every("", func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
					if op := req.Header.Get("X-Amz-Target"); strings.HasSuffix(op, "GetItem") {
						return send(req)
					}
					return door.Hold(req, send)
				})
				go func() { released <- release(a) }()
				<-door.Arrived()
				go func() { again <- a.take(1) }()
				synctest.Wait()
				door.Release()
				stop()
				if err := <-released; err != nil {
					w.Error(err)
				}
				lease := <-again
				if _, taken, err := b.Acquire(w.Context(), w.group, 1, "b", ttl); err != nil || taken && lease.Remaining() > 0 {
					w.Errorf("b has it: %v, %v, and a counts on it for %v", taken, err, lease.Remaining())
				}
			})
		})
	}
}

// Everything at once, for the race detector. In the end nothing is held.
func TestSessionConcurrently(t *testing.T) {
	w := newWorld(t)
	a := w.node()
	a.open("a", time.Minute)
	var running sync.WaitGroup
	for i := range 6 {
		running.Go(func() {
			for range 6 {
				lease, acquired, err := a.session.Acquire(t.Context(), w.group, i%4)
				if err != nil || !acquired {
					t.Errorf("%+v, %v, %v", lease, acquired, err)
				}
				_, err = a.session.Heartbeat(t.Context())
				_, releaseErr := a.session.Release(t.Context(), w.group, i%3)
				if err := errors.Join(err, releaseErr, a.session.ReleaseAll(t.Context())); err != nil {
					t.Error(err)
				}
				_ = a.session.Remaining() + lease.Remaining()
			}
		})
	}
	running.Wait()
	closing := make([]error, 3)
	for i := range closing {
		running.Go(func() { closing[i] = a.session.Close(t.Context()) })
	}
	running.Wait()
	if err := errors.Join(closing...); err != nil {
		t.Error(err)
	}
	if owners := a.owners(); len(owners) != 0 || len(a.members()) != 0 {
		t.Errorf("owners %+v, members %+v", owners, a.members())
	}
}
