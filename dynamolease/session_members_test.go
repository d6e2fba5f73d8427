package dynamolease_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// LS37: nobody gets a session's leases because an operator took its node off the members; nor does it harm the session. CO17: as
// long as it lives it is a member again with its next heartbeat.
func TestSessionLeftLS37(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, b := w.node(), w.node()
		a.open("a", ttl)
		lease := a.take(1)
		b.leave("a")
		for i := range 6 {
			if members := b.members(); len(members) != min(i, 1) {
				w.Errorf("after %d heartbeats: members %+v", i, members)
			}
			b.refused(1, "b")
			time.Sleep(ttl / 3)
			a.beat()
		}
		if lease.Remaining() != ttl || textOf(a.row(1)["session"]) != a.session.ID() {
			w.Errorf("%v left", lease.Remaining())
		}
		w.expire()
		b.acquire(1, "b")
	})
}

// A signal comes with the next heartbeat that is applied, whatever becomes of the answer, and stays: others count on what was
// written before it.
func TestSessionSignal(t *testing.T) {
	signals := func(n *node) string {
		list := ""
		for _, m := range n.members() {
			list += fmt.Sprintf("%s %d ", m.Node, m.Signals)
		}
		return list
	}
	inVirtualTime(t, func(w *world) {
		a, b := w.node(), w.node()
		a.open("a", ttl)
		b.heartbeat("b", "b:1")
		a.Path.Reset()
		a.session.Signal()
		if n := a.Path.Count(""); n != 0 {
			w.Errorf("%d requests", n)
		}
		if got := signals(b); got != "a 0 b 0 " {
			w.Errorf("before a heartbeat: %s", got)
		}
		a.Path.Next("UpdateItem", dynamotest.LoseRequest())
		a.Path.Next("UpdateItem", dynamotest.LoseResponse())
		a.beat()
		if got := signals(b); got != "a 1 b 0 " {
			w.Errorf("after a heartbeat: %s", got)
		}
		a.session.Signal()
		a.session.Signal()
		lease := a.take(1)
		if _, _, err := b.Revoke(w.Context(), w.group, 1, lease.Epoch); err != nil { // another hand in the row
			w.Fatal(err)
		}
		a.beat()
		a.beat()
		if got := signals(b); got != "a 3 b 0 " {
			w.Errorf("after two more: %s", got)
		}
		next := w.node()
		next.open("a", ttl)
		if got := signals(b); got != "a 0 b 0 " {
			w.Errorf("of another session: %s", got)
		}
	})
}

// LS37: a restart under the same name lists the new session, and leaves the leases of the old one alone until it ends.
func TestSessionRestartLS37(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		old, b, again := w.node(), w.node(), w.node()
		old.open("a", ttl)
		lease := old.take(1)
		time.Sleep(5 * time.Second)
		again.open("a", ttl)
		if members := b.members(); len(members) != 1 || members[0].Session != again.session.ID() {
			w.Errorf("members %+v, want %s", members, again.session.ID())
		}
		again.turnedAway(1)
		b.refused(1, "a") // the name alone is not enough
		if released, err := again.session.Release(w.Context(), w.group, 1); released || err != nil {
			w.Errorf("the new process released the old one's lease: %v, %v", released, err)
		}
		old.beat()
		if members := b.members(); len(members) != 1 || members[0].Session != again.session.ID() {
			w.Errorf("members %+v, want %s", members, again.session.ID())
		}
		for range 5 {
			time.Sleep(ttl / 3)
			again.beat()
		}
		if next := again.take(1); next.Epoch != lease.Epoch+1 || lease.Remaining() != 0 {
			w.Errorf("epoch %d after %d", next.Epoch, lease.Epoch)
		}
	})
}

// A process that is started again at once is what the members list, whatever part of the second it starts in.
func TestSessionQuickRestartLS37(t *testing.T) {
	for _, at := range []time.Duration{0, 300 * time.Millisecond, 600 * time.Millisecond, 900 * time.Millisecond} {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				time.Sleep(at)
				look, old := w.coldNode(), w.node()
				time.Sleep(400 * time.Millisecond)
				old.open("a", ttl)
				time.Sleep(300 * time.Millisecond)
				again := w.coldNode()
				again.open("a", ttl)
				if members := look.members(); len(members) != 1 || members[0].Session != again.session.ID() {
					w.Errorf("members %+v, want the newer %s", members, again.session.ID())
				}
			})
		})
	}
}

// A node leaves after it opened a session that was never answered: it is gone, and its service can be read.
func TestSessionUnansweredThenLeft(t *testing.T) {
	for name, fault := range map[string]func(late *mailbox) dynamotest.Fault{
		"applied": func(*mailbox) dynamotest.Fault { return dynamotest.LoseResponse() }, "delivered late": (*mailbox).post,
	} {
		for who, other := range map[string]bool{"the node": false, "an operator": true} {
			t.Run("LS26/LS41/"+name+"/"+who, func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					a, b, late := w.node(), w.node(), newMailbox()
					b.heartbeat("b", "b:1")
					a.Path.Next("UpdateItem", fault(late))
					_, err := a.OpenSession(w.giveUp(), dynamolease.Node{Service: w.service, Name: "a", Address: "new:1"}, ttl)
					w.wantUnknown("open session", err)
					if other {
						b.leave("a")
					} else {
						a.leave("a")
					}
					if name == "applied" || !other { // an operator cannot know of what has not arrived
						late.deliver()
					}
					members, err := b.Members(w.Context(), w.service)
					if err != nil || len(members) != 1 || members[0].Node != "b" {
						w.Errorf("members %+v, %v", members, err)
					}
				})
			})
		}
	}
}

// LS41: leaving, delivered late or twice, is no harm to a session that was opened after it; a late opening is none to a
// session that was closed.
func TestSessionLateOpening(t *testing.T) {
	t.Run("LS41", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			a, b, late := w.node(), w.node(), newMailbox()
			a.Path.Next("UpdateItem", late.post())
			a.open("a", ttl) // by its second request
			a.take(1)
			if err := a.session.Close(w.Context()); err != nil {
				w.Error(err)
			}
			late.deliver()
			if members := b.members(); len(members) != 0 {
				w.Errorf("members %+v", members)
			}
			b.acquire(1, "b")
		})
	})
}

// A session whose row is gone is over at its next heartbeat, and does not make it again.
func TestSessionRowDeleted(t *testing.T) {
	t.Run("LS38", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			a, b := w.node(), w.node()
			a.open("a", ttl)
			lease := a.take(1)
			w.Delete(key("M#"+w.service, "N#"+a.session.ID()))
			_, err := a.session.Heartbeat(w.Context())
			a.wantLost(err)
			if len(a.sessionRow()) != 0 || lease.Remaining() != 0 {
				w.Errorf("the row is %v, %v left", a.sessionRow(), lease.Remaining())
			}
			b.acquire(1, "b")
		})
	})
}

// Leases that could not all be released are released by the next call, since nothing else would while the session lives.
func TestSessionReleaseAllAgain(t *testing.T) {
	for name, fault := range map[string]dynamotest.Fault{"refused": dynamotest.AccessDenied(), "lost": dynamotest.LoseRequest()} {
		t.Run("LS37/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a := w.node()
				a.open("a", 6*ttl)
				leases := []dynamolease.Lease{a.take(1), a.take(2)}
				stop := a.Path.Every("UpdateItem", fault)
				err := a.session.ReleaseAll(w.Context())
				stop()
				if err == nil || leases[0].Remaining()+leases[1].Remaining() != 0 {
					w.Errorf("release: %v, %v left", err, leases[0].Remaining())
				}
				if err := a.session.ReleaseAll(w.Context()); err != nil {
					w.Error(err)
				}
				if owners := a.owners(); len(owners) != 0 {
					w.Errorf("%s are released, so it was said", partitionsOf(owners))
				}
			})
		})
	}
}

// A session that is told that another holds a partition does not count on it any more, however that came about.
func TestSessionToldOfAnotherHolder(t *testing.T) {
	for name, tell := range map[string]func(n *node) error{
		"acquire": func(n *node) error { n.turnedAway(1); return nil },
		"transact": func(n *node) error {
			if err := n.transact(n.w.Context()); !errors.As(err, new(*dynamolease.FencedError)) {
				return fmt.Errorf("not fenced: %w", err)
			}
			_, _, err := n.session.Acquire(n.w.Context(), n.w.group, 1)
			return err
		},
	} {
		t.Run("LS18/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a := w.node()
				a.open("a", ttl)
				a.lease = a.take(1)
				a.plant(1, "z", 2_000_000_000_000, decimal(time.Now().Add(time.Hour).UnixMilli())) // by hand
				if err := tell(a); err != nil {
					w.Error(err)
				}
				if a.lease.Remaining() != 0 {
					w.Errorf("%v left of a lease that is known to be another's", a.lease.Remaining())
				}
			})
		})
	}
}
