package dynamolease_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// open opens the node's session in the world's service.
func (n *node) open(name string, ttl time.Duration) {
	n.w.Helper()
	session, err := n.OpenSession(n.w.Context(), dynamolease.Node{Service: n.w.service, Name: name, Address: "new:1", Groups: []string{n.w.group}}, ttl)
	if err != nil {
		n.w.Fatalf("open session of %s: %v", name, err)
	}
	n.session = session
}

func (n *node) take(partition int) dynamolease.Lease {
	n.w.Helper()
	lease, acquired, err := n.session.Acquire(n.w.Context(), n.w.group, partition)
	if err != nil || !acquired {
		n.w.Fatalf("acquire %d in %s: %+v, %v, %v", partition, n.session.ID(), lease, acquired, err)
	}
	return lease
}

// turnedAway expects that another has the partition.
func (n *node) turnedAway(partition int) dynamolease.Lease {
	n.w.Helper()
	lease, acquired, err := n.session.Acquire(n.w.Context(), n.w.group, partition)
	if err != nil || acquired {
		n.w.Fatalf("acquire %d in %s: want refused, got %+v, %v, %v", partition, n.session.ID(), lease, acquired, err)
	}
	return lease
}

func (n *node) beat() {
	n.w.Helper()
	if _, err := n.session.Heartbeat(n.w.Context()); err != nil {
		n.w.Fatalf("heartbeat of %s: %v", n.session.ID(), err)
	}
}

// sessionRow reads the row of the node's session past the store.
func (n *node) sessionRow() map[string]attributeValue {
	n.w.Helper()
	return n.w.Get(key("M#"+n.w.service, "N#"+n.session.ID()))
}

func (n *node) wantOver(err, want error) {
	n.w.Helper()
	if !errors.Is(err, want) || !errors.Is(n.session.Err(), want) || n.session.Remaining() != 0 {
		n.w.Errorf("%v, the session's error %v, %v left; want %v", err, n.session.Err(), n.session.Remaining(), want)
	}
	select {
	case <-n.session.Done():
	default:
		n.w.Error("Done is not closed")
	}
}

// LS36: however many leases a session has, a round is one write, and they stay live.
func TestSessionLS36(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, b := w.node(), w.node()
		a.open("a", ttl)
		const many = 130
		leases := make([]dynamolease.Lease, many)
		for i := range leases {
			leases[i] = a.take(i)
		}
		a.Path.Reset()
		for range 9 {
			time.Sleep(ttl / 3)
			a.beat()
		}
		if a.Path.Count("") != 9 || a.Path.Count("UpdateItem") != 9 {
			w.Errorf("%d requests in 9 rounds", a.Path.Count(""))
		}
		if owners := b.owners(); len(owners) != many {
			w.Errorf("%d of %d are live", len(owners), many)
		}
		for _, lease := range leases {
			if lease.Remaining() != ttl {
				w.Fatalf("%v left of %+v", lease.Remaining(), lease)
			}
		}
		if held := b.refused(7, "b"); held.Session != a.session.ID() || held.Epoch != leases[7].Epoch {
			w.Errorf("the holder is %+v", held)
		}
		a.Path.Reset()
		if err := a.session.ReleaseAll(w.Context()); err != nil || a.Path.Count("") != many || a.Path.Count("UpdateItem") != many {
			w.Errorf("released with %d requests: %v", a.Path.Count(""), err)
		}
		if owners := b.owners(); len(owners) != 0 || leases[0].Remaining() != 0 || a.session.Remaining() == 0 {
			w.Errorf("owners %v after all were released", partitionsOf(owners))
		}
	})
}

// LS37: a session that closed itself frees its leases to others at once, released or not.
func TestSessionCloseLS37(t *testing.T) {
	for name, fault := range map[string]dynamotest.Fault{"released": dynamotest.Delay(0), "not released": dynamotest.AccessDenied()} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, b := w.node(), w.node()
				a.open("a", ttl)
				lease := a.take(1)
				b.refused(1, "b")
				a.Path.Next("UpdateItem", fault)
				err := a.session.Close(w.Context())
				if (err != nil) != (name == "not released") {
					w.Errorf("close: %v", err)
				}
				a.wantOver(a.session.Err(), dynamolease.ErrSessionClosed)
				if len(b.members()) != 0 || lease.Remaining() != 0 {
					w.Errorf("members %+v, %v left", b.members(), lease.Remaining())
				}
				if next := b.acquire(1, "b"); next.Epoch != lease.Epoch+1 {
					w.Errorf("epoch %d after %d", next.Epoch, lease.Epoch)
				}
				if err := a.session.Close(w.Context()); err != nil {
					w.Error(err)
				}
				_, err = a.session.Heartbeat(w.Context())
				a.wantOver(err, dynamolease.ErrSessionClosed)
				_, _, err = a.session.Acquire(w.Context(), w.group, 2)
				a.wantOver(err, dynamolease.ErrSessionClosed)
			})
		})
	}
}

// LS40: plain and session leases are side by side in one group.
func TestSessionLS40(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, b := w.node(), w.node()
		a.open("a", ttl)
		a.take(1)
		plain := b.acquire(2, "b")
		b.refused(1, "a")
		if held := a.turnedAway(2); held.Owner != "b" || held.ExpiresAt != plain.ExpiresAt || held.Session != "" {
			w.Errorf("the holder is %+v", held)
		}
		owners := w.node().owners()
		if len(owners) != 2 || owners[0].Session != a.session.ID() || owners[1].Owner != "b" || owners[1].Session != "" {
			w.Fatalf("owners %+v", owners)
		}
		for _, lease := range owners {
			if left := time.Until(lease.ExpiresAt); left < ttl || left > ttl+graceOfExpiry {
				w.Errorf("%+v has %v left", lease, left)
			}
		}
		if got := b.renew("a", 1, 2); len(got) != 0 {
			w.Errorf("renewed %+v", got)
		}
		if b.release(1, "a") {
			w.Error("a plain release freed a session's lease")
		}
		row := a.row(1)
		if row["ttl"] != nil || row["exp"] != nil || textOf(row["service"]) != w.service {
			w.Errorf("a row in a session is %v: its life is the session's", row)
		}
		if released, err := a.session.Release(w.Context(), w.group, 1); !released || err != nil || a.row(1)["ttl"] == nil {
			w.Errorf("released %v, %v, row %v", released, err, a.row(1))
		}
		w.expire()
		if owners := w.node().owners(); len(owners) != 0 {
			w.Errorf("owners %+v", owners)
		}
	})
	// Sessions of several services, too.
	inVirtualTime(t, func(w *world) {
		var want []string
		for i, service := range []string{w.service, w.service + "-b", w.service + "-c"} {
			n := w.node()
			session, err := n.OpenSession(w.Context(), dynamolease.Node{Service: service, Name: "a", Address: "new:1"}, ttl)
			if err != nil {
				w.Fatal(err)
			}
			if _, acquired, err := session.Acquire(w.Context(), w.group, i); err != nil || !acquired {
				w.Fatalf("acquire in %s: %v, %v", service, acquired, err)
			}
			want = append(want, session.ID())
		}
		w.node().acquire(3, "d")
		want = append(want, "")
		var got []string
		for _, lease := range w.node().owners() {
			got = append(got, lease.Session)
		}
		if !slices.Equal(got, want) {
			w.Errorf("owners in sessions %q, want %q", got, want)
		}
	})
}

// What a session says of its own lease is what others say of it.
func TestSessionLeaseExpiresAt(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a := w.node()
		a.open("a", ttl)
		if lease, listed := a.take(1), a.owners()[0]; lease.ExpiresAt != listed.ExpiresAt {
			w.Errorf("ExpiresAt is %v to its holder and %v in Owners", lease.ExpiresAt, listed.ExpiresAt)
		}
	})
}

// Work that ended without a word, and with it the heartbeats, keeps nothing alive.
func TestSessionEndsWithItsWorkC35(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, b := w.node(), w.node()
		a.open("a", ttl)
		a.take(1)
		w.expire()
		a.wantLost(a.session.Err())
		if len(b.members()) != 0 {
			w.Errorf("members %+v", b.members())
		}
		b.acquire(1, "b")
	})
}
