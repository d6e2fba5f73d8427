package dynamolease_test

import (
	"fmt"
	"maps"
	"reflect"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

func TestAcquire(t *testing.T) {
	for name, test := range map[string]func(w *world){
		"LS1/free partition":             acquiresFree,
		"LS1/between two seconds":        acquiresForTheWholeTTL,
		"LS2/held by another":            refusesHeld,
		"LS2/held in a session":          refusesHeldInSession,
		"LS3/held by the caller":         extendsOwn,
		"LS3/with a shorter ttl":         keepsTheLaterExpiry,
		"LS4/expired":                    takesExpired,
		"LS5/released":                   takesReleased,
		"LS6/own, after expiry":          takesOwnExpired,
		"LS6/own, after release":         takesOwnReleased,
		"LS8/same number in two groups":  keepsGroupsApart,
		"LS10/row deleted":               epochSurvivesDeletion,
		"LS11/by a process just started": takesExpiredAtOnce,
		"LS22/at exactly the expiry":     expiresExactly,
	} {
		t.Run(name, func(t *testing.T) { inVirtualTime(t, test) })
	}
}

func acquiresFree(w *world) {
	lease := w.node().acquire(7, "a")
	if lease.Group != w.group || lease.Partition != 7 || lease.Owner != "a" || lease.Epoch <= 0 {
		w.Errorf("lease %+v", lease)
	}
	if least := time.Now().Add(ttl); lease.ExpiresAt.Before(least) {
		w.Errorf("expires at %v, want %v at least", lease.ExpiresAt, least)
	}
	if lease.Remaining() != ttl {
		w.Errorf("remaining %v, want %v", lease.Remaining(), ttl)
	}
}

// exact has a node go by its own clock, which is right: what is rounded away shows.
func exact(o *dynamolease.Options) {
	o.Clock = dynamolease.NodeClock(time.Nanosecond)
	o.Clock.DriftPPM = 1
}

// Expiries are to the millisecond, and none is rounded down.
func acquiresForTheWholeTTL(w *world) {
	a := w.node(exact)
	for i, past := range []time.Duration{0, 1, time.Millisecond, 700*time.Millisecond + 1, 999 * time.Millisecond} {
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second + past)))
		lease := a.acquire(i, "a")
		most := time.Now().Add(ttl + 2*time.Millisecond)
		if least := time.Now().Add(ttl); lease.ExpiresAt.Before(least) || lease.ExpiresAt.After(most) {
			w.Errorf("%v past a second: expires at %v, want %v to %v", past, lease.ExpiresAt, least, most)
		}
	}
}

func refusesHeld(w *world) {
	a, b := w.node(), w.node()
	held := a.acquire(7, "a")
	before := a.row(7)
	got := b.refused(7, "b")
	if got.Owner != "a" || got.Epoch != held.Epoch || !got.ExpiresAt.Equal(held.ExpiresAt) {
		w.Errorf("got %+v, want the holder's %+v", got, held)
	}
	if got.Remaining() != 0 {
		w.Errorf("another's lease has %v left for the caller", got.Remaining())
	}
	if after := a.row(7); !reflect.DeepEqual(before, after) {
		w.Errorf("row changed from %v to %v", before, after)
	}
	if b.Path.Count("GetItem") != 1 || b.Path.Count("") != 1 {
		w.Errorf("requests %v, want one GetItem", b.Path.Requests())
	}
}

// The row of the session says how long the lease lasts: it is read once, after the lease's own.
func refusesHeldInSession(w *world) {
	a, b := w.node(), w.node()
	a.open("a", ttl)
	held := a.take(7)
	time.Sleep(ttl / 2)
	a.beat() // the expiry is that of the latest heartbeat
	member := b.members()[0]
	before, session := a.row(7), a.sessionRow()
	for try := range 2 { // nothing that was learned of another's lease makes the next look cost more
		b.Path.Reset()
		got := b.refused(7, "b")
		if got.Owner != "a" || got.Epoch != held.Epoch || got.Session != held.Session || !got.ExpiresAt.Equal(member.ExpiresAt) || got.Remaining() != 0 {
			w.Errorf("got %+v, want the holder's %+v until %v", got, held, member.ExpiresAt)
		}
		if reads := b.Path.Count("GetItem"); reads > 2 || b.Path.Count("") != reads {
			w.Errorf("try %d: requests %v, want a read of the lease and one of its session", try, b.Path.Requests())
		}
	}
	if !reflect.DeepEqual(before, a.row(7)) || !reflect.DeepEqual(session, a.sessionRow()) {
		w.Errorf("rows changed to %v and %v", a.row(7), a.sessionRow())
	}
}

func extendsOwn(w *world) {
	a := w.node()
	first := a.acquire(7, "a")
	time.Sleep(ttl / 2)
	second := a.acquire(7, "a")
	if second.Epoch != first.Epoch {
		w.Errorf("epoch %d, want %d as before", second.Epoch, first.Epoch)
	}
	if second.Remaining() != ttl || second.ExpiresAt.Before(time.Now().Add(ttl)) {
		w.Errorf("remaining %v, expires at %v: want %v from now", second.Remaining(), second.ExpiresAt, ttl)
	}
	if first.Remaining() != ttl/2 {
		w.Errorf("the former lease has %v left, want %v: it does not follow", first.Remaining(), ttl/2)
	}
	// Each of two stores of the owner builds on a row that the other has written over.
	twin := w.node()
	for range 2 {
		for _, n := range []*node{twin, a} {
			if again := n.acquire(7, "a"); again.Epoch != first.Epoch || again.Remaining() != ttl {
				w.Errorf("extended by another store: %+v, want epoch %d", again, first.Epoch)
			}
		}
	}
}

func keepsTheLaterExpiry(w *world) {
	a := w.node()
	long := a.acquire(7, "a")
	short, acquired, err := a.Acquire(w.Context(), w.group, 7, "a", ttl/5)
	if err != nil || !acquired {
		w.Fatal(short, acquired, err)
	}
	if !short.ExpiresAt.Equal(long.ExpiresAt) {
		w.Errorf("the expiry moved from %v to %v", long.ExpiresAt, short.ExpiresAt)
	}
	if short.Remaining() != ttl/5 {
		w.Errorf("remaining %v, want %v of the caller's own ttl", short.Remaining(), ttl/5)
	}
}

func takesExpired(w *world) {
	a, b := w.node(), w.node()
	first := a.acquire(7, "a")
	b.refused(7, "b")
	w.expire()
	if second := b.acquire(7, "b"); second.Epoch <= first.Epoch || second.Owner != "b" {
		w.Errorf("got %+v after %+v", second, first)
	}
	if first.Remaining() != 0 {
		w.Errorf("the former holder still counts on %v", first.Remaining())
	}
}

func takesReleased(w *world) {
	a, b := w.node(), w.node()
	first := a.acquire(7, "a")
	a.release(7, "a")
	if second := b.acquire(7, "b"); second.Epoch <= first.Epoch {
		w.Errorf("epoch %d after %d", second.Epoch, first.Epoch)
	}
}

func takesOwnExpired(w *world) {
	a := w.node()
	first := a.acquire(7, "a")
	w.expire()
	if second := a.acquire(7, "a"); second.Epoch <= first.Epoch {
		w.Errorf("epoch %d after %d", second.Epoch, first.Epoch)
	}
}

func takesOwnReleased(w *world) {
	a := w.node()
	first := a.acquire(7, "a")
	a.release(7, "a")
	if second := a.acquire(7, "a"); second.Epoch <= first.Epoch {
		w.Errorf("epoch %d after %d", second.Epoch, first.Epoch)
	}
}

func keepsGroupsApart(w *world) {
	a := w.node()
	a.acquire(7, "a")
	lease, acquired, err := a.Acquire(w.Context(), w.group+"-other", 7, "b", ttl)
	if err != nil || !acquired || lease.Group != w.group+"-other" {
		w.Fatal(lease, acquired, err)
	}
	if got := a.refused(7, "b"); got.Owner != "a" {
		w.Errorf("holder of the first group is %q", got.Owner)
	}
	// Names are told apart by every byte.
	names := []string{"A", "a", " a", "a ", "a#", "a#1", "#a", "L#a", "a/1", "é", "e\u0301", "a\x00", "a\n"}
	for i, name := range names {
		lease, acquired, err := a.Acquire(w.Context(), name, 7, fmt.Sprint("owner", i), ttl)
		if err != nil || !acquired || lease.Group != name {
			w.Errorf("group %q: %+v, %v, %v", name, lease, acquired, err)
		}
	}
	for i, name := range names {
		owners, err := a.Owners(w.Context(), name)
		if err != nil || len(owners) != 1 || owners[0].Owner != fmt.Sprint("owner", i) || owners[0].Group != name {
			w.Errorf("owners of %q: %+v, %v", name, owners, err)
		}
	}
}

// The row of a partition goes, together with its epoch, at the worst moment each time: some seconds after its last use.
func epochSurvivesDeletion(w *world) {
	a := w.node()
	var last int64
	for i := range 50 {
		lease := a.acquire(7, fmt.Sprint("owner", i))
		if lease.Epoch <= last {
			w.Fatalf("epoch %d after %d", lease.Epoch, last)
		}
		for range 3 { // the epoch runs ahead of the clock as little as these do
			a.release(7, lease.Owner)
			lease = a.acquire(7, lease.Owner)
		}
		last = lease.Epoch
		if i%2 == 0 {
			a.release(7, lease.Owner)
			time.Sleep(3 * time.Second)
		} else {
			w.expire()
		}
		w.deleteRow(7)
	}
}

func takesExpiredAtOnce(w *world) {
	w.node().acquire(7, "a")
	w.expire()
	fresh := w.coldNode()
	fresh.acquire(7, "fresh")
	if fresh.Path.Count("GetItem") != 2 || fresh.Path.Count("UpdateItem") != 1 || fresh.Path.Count("") != 3 {
		w.Errorf("requests %v, want two reads, whose dates agree, and one write", fresh.Path.Requests())
	}
}

// With a node's clock as the time, and no skew to speak of, the moment of expiry can be met exactly.
func expiresExactly(w *world) {
	a, b := w.node(exact), w.node(exact)
	lease := a.acquire(7, "a")
	time.Sleep(time.Until(lease.ExpiresAt) - 2*time.Millisecond)
	b.refused(7, "b")
	if n := len(b.owners()); n != 1 {
		w.Errorf("%d owners before the expiry, want 1", n)
	}
	// A nanosecond of skew keeps the bounds apart: step just past it.
	time.Sleep(time.Until(lease.ExpiresAt) + time.Nanosecond)
	if n := len(b.owners()); n != 0 {
		w.Errorf("%d owners at the expiry, want none", n)
	}
	if renewed := a.renew("a", 7); len(renewed) != 0 {
		w.Errorf("renewed %v at the expiry", renewed)
	}
	b.acquire(7, "b")
}

// plant writes the row of a lease past the store.
func (n *node) plant(partition int, owner string, epoch int, exp string) {
	n.w.Helper()
	item := n.w.leaseKey(partition)
	maps.Copy(item, map[string]attributeValue{
		"owner": text(owner), "epoch": number(fmt.Sprint(epoch)), "exp": number(exp), "rev": text("planted"),
	})
	n.w.Put(item)
}
