package dynamolease_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

func TestRevoke(t *testing.T) {
	for name, test := range map[string]func(w *world){
		"a lease of its own is not extended, and free when it has expired": revokePlain,
		"in one call where the holder is over":                             revokeOver,
		"another epoch is left alone":                                      revokeOther,
		"a lease in a session ends where the session would have":           revokeInSession,
		"a lease in a session stays until it is released":                  revokeKept,
		"a lease of a dead session":                                        revokeDeadSession,
		"acquired together with others":                                    revokeJoint,
		"a renewal on its way does not bring it back":                      revokeLateRenewal,
		"a heartbeat on its way does not hide it":                          revokeLostHeartbeat,
		"a release in between":                                             revokeReleased,
		"by the holder's own store":                                        revokeOwnStore,
		"where the node leaves before it knows":                            revokeLeaving,
	} {
		t.Run(name, func(t *testing.T) { inVirtualTime(t, test) })
	}
}

// revoke is one call.
func (n *node) revoke(partition int, epoch int64) (dynamolease.Lease, bool) {
	n.w.Helper()
	lease, done, err := n.Revoke(n.w.Context(), n.w.group, partition, epoch)
	if err != nil {
		n.w.Fatalf("revoke %d: %v", partition, err)
	}
	return lease, done
}

// untilRevoked calls until it is done, and says how long that took.
func (n *node) untilRevoked(partition int, epoch int64) time.Duration {
	n.w.Helper()
	begun := time.Now()
	for range 1000 {
		if _, done := n.revoke(partition, epoch); done {
			return time.Since(begun)
		}
		time.Sleep(100 * time.Millisecond)
	}
	n.w.Fatalf("partition %d is not free", partition)
	return 0
}

func revokePlain(w *world) {
	holder, operator, other := w.node(), w.node(), w.node()
	lease := holder.acquire(1, "A")
	if found, done := operator.revoke(1, lease.Epoch); done || found.Owner != "A" {
		w.Fatalf("revoked %+v, %v", found, done)
	}
	for range 3 {
		if got := holder.renew("A", 1); len(got) != 0 {
			w.Errorf("renewed %+v", got)
		}
		if own := holder.refused(1, "A"); own.Epoch != lease.Epoch {
			w.Errorf("refused with %+v", own)
		}
		if seen := other.refused(1, "B"); !seen.Revoked() || !other.owners()[0].Revoked() || lease.Revoked() {
			w.Errorf("others see %+v", seen)
		}
		time.Sleep(time.Second)
	}
	if left := lease.Remaining(); left <= 0 {
		w.Errorf("the holder has %v left", left)
	}
	if err := holder.Transact(w.Context(), lease, nil, w.increment("before")); err != nil {
		w.Errorf("the holder may still work: %v", err)
	}
	took := operator.untilRevoked(1, lease.Epoch)
	if left := lease.Remaining(); left > 0 || took > ttl+graceOfExpiry {
		w.Errorf("free after %v, while the holder has %v left", took, left)
	}
	var fenced *dynamolease.FencedError
	if err := holder.Transact(w.Context(), lease, nil, w.increment("after")); !errors.As(err, &fenced) {
		w.Errorf("the former holder's write: %v", err)
	}
	if next := holder.acquire(1, "A"); next.Epoch <= lease.Epoch+1 || len(holder.renew("A", 1)) != 1 {
		w.Errorf("acquired again: %+v", next)
	}
}

func revokeOver(w *world) {
	holder, operator := w.node(), w.node()
	lease := holder.acquire(1, "A")
	w.expire()
	found, done := operator.revoke(1, lease.Epoch)
	if !done || found.Owner != "" || found.Epoch != lease.Epoch+1 {
		w.Errorf("revoked %+v, %v", found, done)
	}
	if next := holder.acquire(1, "B"); next.Epoch != lease.Epoch+2 {
		w.Errorf("acquired %+v", next)
	}
}

func revokeOther(w *world) {
	holder, operator := w.node(), w.node()
	if _, done := operator.revoke(1, 5); !done {
		w.Error("there is nothing to revoke")
	}
	lease := holder.acquire(1, "A")
	before := holder.row(1)
	if found, done := operator.revoke(1, lease.Epoch-1); !done || found.Epoch != lease.Epoch || found.Owner != "A" {
		w.Errorf("revoked %+v, %v", found, done)
	}
	if after := holder.row(1); textOf(after["rev"]) != textOf(before["rev"]) {
		w.Errorf("the row has changed to %v", after)
	}
	holder.release(1, "A")
	if _, done := operator.revoke(1, lease.Epoch); !done {
		w.Error("a released lease is to be revoked")
	}
	for _, argument := range []int64{0, -1} {
		var refused *dynamolease.ArgumentError
		if _, _, err := operator.Revoke(w.Context(), w.group, 1, argument); !errors.As(err, &refused) || refused.Argument != "epoch" {
			w.Errorf("epoch %d: %v", argument, err)
		}
	}
}

// holding opens a session and acquires a partition in it.
func (n *node) holding(name string, partition int) dynamolease.Lease {
	n.w.Helper()
	n.open(name, ttl)
	lease := n.take(partition)
	n.lease = lease
	return lease
}

func revokeInSession(w *world) {
	holder, operator, other := w.node(), w.node(), w.node()
	lease := holder.holding("A", 1)
	kept, _, err := holder.session.Acquire(w.Context(), w.group, 2)
	if err != nil {
		w.Fatal(err)
	}
	time.Sleep(ttl / 3)
	operator.revoke(1, lease.Epoch)
	if lease.Revoked() {
		w.Error("the session knows before its heartbeat")
	}
	end := time.Now().Add(lease.Remaining())
	holder.beat()
	if !lease.Revoked() || kept.Revoked() {
		w.Errorf("revoked: %v, and the other one: %v", lease.Revoked(), kept.Revoked())
	}
	for time.Now().Before(end.Add(ttl)) {
		left, want := lease.Remaining(), max(0, time.Until(end))
		if left > want || left < want-time.Second {
			w.Errorf("%v left, want %v", left, want)
		}
		if session := holder.session.Remaining(); kept.Remaining() != session {
			w.Errorf("the other lease has %v left, the session %v", kept.Remaining(), session)
		}
		other.refused(1, "B")
		time.Sleep(time.Second)
		holder.beat()
	}
	if _, acquired, err := holder.session.Acquire(w.Context(), w.group, 1); acquired || err != nil {
		w.Errorf("the session has it again: %v, %v", acquired, err)
	}
	if released, err := holder.session.Release(w.Context(), w.group, 1); !released || err != nil {
		w.Errorf("released: %v, %v", released, err)
	}
	if _, done := operator.revoke(1, lease.Epoch); !done {
		w.Error("it is released, and not done")
	}
	again, acquired, err := holder.session.Acquire(w.Context(), w.group, 1)
	if err != nil || !acquired || again.Epoch <= lease.Epoch || again.Revoked() || again.Remaining() == 0 {
		w.Errorf("acquired again: %+v, %v, %v", again, acquired, err)
	}
}

func revokeKept(w *world) {
	holder, operator, other := w.node(), w.node(), w.node()
	lease := holder.holding("A", 1)
	for range 20 {
		if _, done := operator.revoke(1, lease.Epoch); done {
			w.Fatal("taken from a session that is there")
		}
		other.refused(1, "B")
		holder.beat()
		time.Sleep(ttl / 3)
	}
	orders := holder.Path.Count("UpdateItem")
	holder.Path.Reset()
	operator.revoke(1, lease.Epoch)
	holder.beat()
	if n := holder.Path.Count("UpdateItem"); n != 1 || orders < 20 {
		w.Errorf("%d writes for a heartbeat: the order is given once", n)
	}
	if err := holder.session.Close(w.Context()); err != nil {
		w.Fatal(err)
	}
	if _, done := operator.revoke(1, lease.Epoch); !done {
		w.Error("the session is closed, and it is not done")
	}
}

func revokeDeadSession(w *world) {
	holder, operator := w.node(), w.node()
	lease := holder.holding("A", 1)
	operator.revoke(1, lease.Epoch)
	took := operator.untilRevoked(1, lease.Epoch)
	if lease.Remaining() > 0 || took < ttl || took > ttl+graceOfExpiry {
		w.Errorf("done after %v, with %v left", took, lease.Remaining())
	}
	if next := operator.acquire(1, "B"); next.Epoch != lease.Epoch+2 {
		w.Errorf("acquired %+v", next)
	}
}

func revokeJoint(w *world) {
	holder, operator := w.node(), w.node()
	leases, acquired, err := holder.AcquireAll(w.Context(), w.group, []int{1, 2}, "A", ttl)
	if err != nil || !acquired {
		w.Fatal(acquired, err)
	}
	operator.revoke(1, leases[0].Epoch)
	others, acquired, err := holder.AcquireAll(w.Context(), w.group, []int{1, 2}, "A", ttl)
	if err != nil || acquired || partitionsOf(others) != "1" {
		w.Errorf("acquired all: %+v, %v, %v", others, acquired, err)
	}
	if got := partitionsOf(holder.renew("A", 1, 2)); got != "2" {
		w.Errorf("renewed %s", got)
	}
}

func revokeLateRenewal(w *world) {
	holder, operator := w.node(), w.node()
	lease := holder.acquire(1, "A")
	deliver := make(chan struct{})
	holder.Path.Next("TransactWriteItems", dynamotest.Late(deliver))
	holder.Path.Next("TransactWriteItems", dynamotest.Hang())
	go func() {
		time.Sleep(ttl / 10)
		operator.revoke(1, lease.Epoch)
		close(deliver)
	}()
	if got, err := holder.Renew(w.Context(), w.group, []int{1}, "A", ttl); err != nil || len(got) != 0 {
		w.Errorf("renewed %+v, %v", got, err)
	}
	operator.untilRevoked(1, lease.Epoch)
	if lease.Remaining() > 0 {
		w.Errorf("%v left", lease.Remaining())
	}
}

func revokeLostHeartbeat(w *world) {
	holder, operator := w.node(), w.node()
	lease := holder.holding("A", 1)
	holder.Path.Next("UpdateItem", dynamotest.LoseResponse())
	holder.Path.Next("UpdateItem", dynamotest.Around(func() { operator.revoke(1, lease.Epoch) }, nil))
	holder.beat()
	if !lease.Revoked() {
		w.Error("the session does not know")
	}
	holder.Path.Next("UpdateItem", dynamotest.Twice())
	holder.beat()
	if !lease.Revoked() {
		w.Error("the session does not know any more")
	}
}

func revokeReleased(w *world) {
	holder, operator := w.node(), w.node()
	lease := holder.holding("A", 1)
	// Between the order to the session and the mark on the lease.
	operator.Path.Next("UpdateItem", dynamotest.Around(nil, func() {
		holder.beat()
		if released, err := holder.session.Release(w.Context(), w.group, 1); err != nil || !released {
			w.Error(released, err)
		}
	}))
	if _, done := operator.revoke(1, lease.Epoch); !done {
		w.Error("not done")
	}
	if row := holder.row(1); row["revoked"] != nil || row["owner"] != nil {
		w.Errorf("the row is %v", row)
	}
}

func revokeOwnStore(w *world) {
	n := w.node()
	plain, session := n.acquire(1, "A"), n.holding("B", 2)
	n.revoke(1, plain.Epoch)
	n.revoke(2, session.Epoch)
	n.beat()
	if got := n.renew("A", 1); len(got) != 0 || !session.Revoked() || n.session.Err() != nil {
		w.Errorf("renewed %+v; revoked in the session: %v, %v", got, session.Revoked(), n.session.Err())
	}
}

// The mark that a node has left and the order each stay when the other is written. A node that has not left itself is a member
// again with its next heartbeat.
func revokeLeaving(w *world) {
	for _, others := range []bool{false, true} {
		holder, operator := w.node(), w.node()
		lease := holder.holding("A", 1)
		operator.revoke(1, lease.Epoch)
		leave := holder.session.Leave
		if others {
			leave = func(ctx context.Context) error { return operator.Leave(ctx, w.service, "A") }
		}
		if err := leave(w.Context()); err != nil {
			w.Fatal(err)
		}
		for range 2 {
			holder.beat()
			if !lease.Revoked() || (len(operator.members()) != 0) != others {
				w.Errorf("revoked: %v; members are %v", lease.Revoked(), operator.members())
			}
		}
		if err := holder.session.Close(w.Context()); err != nil {
			w.Fatal(err)
		}
	}
}
