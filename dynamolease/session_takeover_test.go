package dynamolease_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// lateBeat has the session send a heartbeat just before its end, which is still on its way when the session has expired.
func (n *node) lateBeat() *mailbox {
	n.w.Helper()
	time.Sleep(ttl - 2*time.Millisecond)
	late := newMailbox()
	n.Path.Next("UpdateItem", late.post())
	_, err := n.session.Heartbeat(n.w.giveUp())
	n.w.wantUnknown("heartbeat", err)
	time.Sleep(graceOfExpiry)
	return late
}

// LS39: the takeover is at the server's door when a heartbeat lands: it fails, and nothing has changed hands.
func TestTakeoverLS39(t *testing.T) {
	for _, name := range []string{"by a session", "by a plain owner", "with others"} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, b := w.node(), w.node()
				a.open("a", ttl)
				lease := a.take(1)
				late := a.lateBeat()
				door := dynamotest.NewDoor()
				b.Path.Next("UpdateItem", door.Hold) // which closes the session
				acquire := func() (dynamolease.Lease, bool, error) { return b.Acquire(w.Context(), w.group, 1, "b", ttl) }
				switch name {
				case "with others":
					acquire = func() (dynamolease.Lease, bool, error) {
						list, acquired, err := b.AcquireAll(w.Context(), w.group, []int{0, 1}, "b", ttl)
						if err != nil || len(list) == 0 {
							return dynamolease.Lease{}, acquired, err
						}
						return list[len(list)-1], acquired, nil
					}
				case "by a session":
					b.open("b", 6*ttl)
					acquire = func() (dynamolease.Lease, bool, error) { return b.session.Acquire(w.Context(), w.group, 1) }
				}
				done := make(chan struct{})
				go func() {
					defer close(done)
					if held, acquired, err := acquire(); acquired || err != nil || held.Epoch != lease.Epoch {
						w.Errorf("%+v, %v, %v: a heartbeat came first", held, acquired, err)
					}
				}()
				<-door.Arrived()
				late.deliver()
				door.Release()
				<-done
				if row := a.row(1); textOf(row["session"]) != a.session.ID() {
					w.Errorf("the row is %v", row)
				}
				if lease.Remaining() != 0 || b.Path.Count("TransactWriteItems") != 0 {
					w.Errorf("%v left, %d transactions", lease.Remaining(), b.Path.Count("TransactWriteItems"))
				}
				w.expire()
				if next, acquired, err := acquire(); err != nil || !acquired || next.Epoch != lease.Epoch+1 {
					w.Errorf("%+v, %v, %v", next, acquired, err)
				}
			})
		})
	}
}

// LS38: a heartbeat that lands after the takeover gives nothing back, although the row says that the session is live.
func TestTakeoverLS38(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, b := w.node(), w.node()
		a.open("a", ttl)
		lease, other := a.take(1), a.take(2)
		late := a.lateBeat()
		next := b.acquire(1, "b")
		before := a.row(1)
		late.deliver()
		w.wantRow("the late heartbeat", before, a.row(1))
		a.Path.Reset()
		_, err := a.session.Heartbeat(w.Context())
		a.wantLost(err)
		if lease.Remaining()+other.Remaining() != 0 || a.Path.Count("") != 0 {
			w.Errorf("%v and %v left, %d requests", lease.Remaining(), other.Remaining(), a.Path.Count(""))
		}
		if _, _, err := a.session.Acquire(w.Context(), w.group, 2); !errors.Is(err, dynamolease.ErrSessionLost) {
			w.Errorf("acquire in a lost session: %v", err)
		}
		if owners := b.owners(); owners[0].Epoch != next.Epoch || owners[0].Owner != "b" {
			w.Errorf("owners %+v", owners)
		}
		b.acquire(2, "b")
	})
}

// A node that is cut off loses its leases at its own deadline, and another has them as soon as may be. It finds out even
// where every call hangs and none returns before the end.
func TestCutOffNodeLosesItsLeases(t *testing.T) {
	for name, hangs := range map[string]bool{"C14/between calls": false, "C23/every call hangs": true} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, b := w.node(), w.node()
				a.open("a", ttl)
				lease := a.take(1)
				start := time.Now()
				a.Path.Every("", dynamotest.Hang())
				if hangs {
					go func() { _, _, _ = a.session.Acquire(w.Context(), w.group, 2) }()
					time.Sleep(ttl/2 + time.Second)
					go func() { _, _ = a.session.Heartbeat(w.Context()) }()
				}
				time.Sleep(ttl - time.Nanosecond - time.Since(start))
				synctest.Wait()
				if lease.Remaining() != time.Nanosecond || a.session.Err() != nil {
					w.Errorf("%v left, %v", lease.Remaining(), a.session.Err())
				}
				b.refused(1, "b")
				<-a.session.Done()
				if took := time.Since(start); took != ttl {
					w.Errorf("lost after %v", took)
				}
				a.wantLost(a.session.Err())
				time.Sleep(graceOfExpiry)
				if next := b.acquire(1, "b"); next.Epoch != lease.Epoch+1 {
					w.Errorf("epoch %d after %d", next.Epoch, lease.Epoch)
				}
			})
		})
	}
}

// LS33, C25: a node that was away has nothing left at once, is told so once, and sends no heartbeat.
func TestSessionSuspended(t *testing.T) {
	for name, away := range map[string]func(n *node){
		"suspended": func(n *node) { n.Suspend(2 * ttl) }, "set forward": func(n *node) { n.Step(2 * ttl) },
	} {
		t.Run("LS33/C25/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, b := w.node(), w.node()
				a.open("a", ttl)
				lease := a.take(1)
				a.Path.Reset()
				away(a)
				if a.session.Remaining() != 0 || lease.Remaining() != 0 {
					w.Errorf("%v and %v left", a.session.Remaining(), lease.Remaining())
				}
				_, err := a.session.Heartbeat(w.Context())
				a.wantLost(err)
				if n := a.Path.Count("UpdateItem"); n != 0 {
					w.Errorf("%d writes for a session that is over", n)
				}
				if _, _, err := a.session.Acquire(w.Context(), w.group, 2); !errors.Is(err, dynamolease.ErrSessionLost) {
					w.Errorf("acquire: %v", err)
				}
				w.expire()
				a.wantLost(a.session.Err())
				b.acquire(1, "b")
			})
		})
	}
}

// Closing races a heartbeat on its way, and wins, whichever comes first.
func TestCloseWinsOverAHeartbeat(t *testing.T) {
	for _, first := range []string{"the heartbeat", "closing", "late"} {
		t.Run("C29/"+first, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, b := w.node(), w.node()
				a.open("a", ttl)
				lease := a.take(1)
				door, late, done := dynamotest.NewDoor(), newMailbox(), make(chan error, 1)
				fault := map[string]dynamotest.Fault{
					"the heartbeat": dynamotest.DelayResponse(time.Second), "closing": door.Hold,
					"late": dynamotest.All(dynamotest.HangAfter(), late.post()),
				}[first]
				a.Path.Next("UpdateItem", fault)
				go func() { _, err := a.session.Heartbeat(w.Context()); done <- err }()
				synctest.Wait()
				if err := a.session.Close(w.Context()); err != nil {
					w.Error(err)
				}
				door.Release()
				late.deliver()
				a.wantOver(<-done, dynamolease.ErrSessionClosed)
				if len(b.members()) != 0 {
					w.Errorf("members %+v", b.members())
				}
				if next := b.acquire(1, "b"); next.Epoch != lease.Epoch+1 {
					w.Errorf("epoch %d after %d", next.Epoch, lease.Epoch)
				}
			})
		})
	}
}
