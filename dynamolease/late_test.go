package dynamolease_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// A request that is delivered after its caller gave up and went on changes nothing that came after it.
func TestLate(t *testing.T) {
	for _, test := range []struct {
		name string
		run  func(w *world)
	}{
		{"LS41/renewal in a transaction shortens nothing", func(w *world) { lateRenewal(w, dynamolease.Transactions) }},
		{"LS41/renewal of one item shortens nothing", func(w *world) { lateRenewal(w, dynamolease.EachItem) }},
		{"LS41/renewal after a release", lateRenewalAfterRelease},
		{"LS41/renewal after a takeover", lateRenewalAfterTakeover},
		{"LS41/release frees nothing acquired again", lateRelease},
		{"LS41/release frees no successor", lateReleaseAfterTakeover},
		{"LS41/acquisition of a free row, then released", func(w *world) { lateAcquisition(w, true) }},
		{"LS41/acquisition of an absent row, then released", func(w *world) { lateAcquisition(w, false) }},
		{"LS41/acquisition given up, then released", func(w *world) { lateAcquisitionGivenUp(w, true, false) }},
		{"LS41/acquisition of an absent row given up, then released", func(w *world) { lateAcquisitionGivenUp(w, false, false) }},
		{"LS41/acquisition given up, acquired and released", func(w *world) { lateAcquisitionGivenUp(w, true, true) }},
		{"LS41/acquisition of an absent row given up, acquired and released", func(w *world) { lateAcquisitionGivenUp(w, false, true) }},
		{"LS41/heartbeat replaces no newer one", lateHeartbeat},
		{"LS41/first heartbeat replaces no newer one", lateFirstHeartbeat},
		{"LS41/heartbeat after leave", func(w *world) { lateHeartbeatAfterLeave(w, false, 1) }},
		{"LS41/first heartbeat after leave", func(w *world) { lateHeartbeatAfterLeave(w, true, 1) }},
		{"LS41/first heartbeat after leaving twice", func(w *world) { lateHeartbeatAfterLeave(w, true, 2) }},
		{"LS41/first heartbeat given up, then left", func(w *world) { lateHeartbeatGivenUp(w, 1) }},
		{"LS41/first heartbeat given up, then left twice", func(w *world) { lateHeartbeatGivenUp(w, 2) }},
		{"LS41/leave removes no newer heartbeat", lateLeave},
	} {
		t.Run(test.name, func(t *testing.T) { inVirtualTime(t, test.run) })
	}
}

// A mailbox holds requests back, whose senders see the connection reset, until deliver.
type mailbox struct{ open chan struct{} }

func newMailbox() *mailbox { return &mailbox{make(chan struct{})} }

func (m *mailbox) post() dynamotest.Fault { return dynamotest.Late(m.open) }

// deliver lets the requests in, and waits until the server has answered them.
func (m *mailbox) deliver() {
	close(m.open)
	time.Sleep(time.Millisecond)
}

// giveUp is a context that ends before the first answer could be found missing and another request be sent.
func (w *world) giveUp() context.Context {
	ctx, cancel := context.WithCancel(w.Context())
	w.Cleanup(cancel)
	time.AfterFunc(time.Millisecond, cancel)
	return ctx
}

func (w *world) wantUnknown(what string, err error) {
	w.Helper()
	if !errors.Is(err, dynamolease.ErrUnknownOutcome) {
		w.Fatalf("%s: %v, want %v", what, err, dynamolease.ErrUnknownOutcome)
	}
}

// wantRow expects that a delivery left a row as it was.
func (w *world) wantRow(what string, want, got map[string]attributeValue) {
	w.Helper()
	for _, name := range []string{"owner", "address"} {
		if textOf(got[name]) != textOf(want[name]) {
			w.Errorf("%s changed %s from %q to %q", what, name, textOf(want[name]), textOf(got[name]))
		}
	}
	for _, name := range []string{"exp", "epoch", "ttl"} {
		if numberOf(got[name]) != numberOf(want[name]) {
			w.Errorf("%s changed %s from %q to %q", what, name, numberOf(want[name]), numberOf(got[name]))
		}
	}
}

func lateRenewal(w *world, how dynamolease.Renewal) {
	a := w.node(func(o *dynamolease.Options) { o.Renewal = how })
	a.acquire(1, "a")
	late := newMailbox()
	a.Path.Next("", late.post())
	_, err := a.Renew(w.giveUp(), w.group, []int{1}, "a", ttl)
	w.wantUnknown("renew", err)
	time.Sleep(3 * time.Second)
	if got := a.renew("a", 1); len(got) != 1 {
		w.Fatalf("renewed %v", got)
	}
	before := a.row(1)
	late.deliver()
	w.wantRow("the late renewal", before, a.row(1))
}

func lateRenewalAfterRelease(w *world) {
	a, b := w.node(), w.node()
	lease := a.acquire(1, "a")
	late := newMailbox()
	a.Path.Next("TransactWriteItems", late.post())
	_, err := a.Renew(w.giveUp(), w.group, []int{1}, "a", ttl)
	w.wantUnknown("renew", err)
	if !a.release(1, "a") {
		w.Error("the lease was not released")
	}
	late.deliver()
	if owners := a.owners(); len(owners) != 0 {
		w.Errorf("the late renewal came back after the release: %+v", owners)
	}
	if next := b.acquire(1, "b"); next.Epoch <= lease.Epoch {
		w.Errorf("epoch %d after %d", next.Epoch, lease.Epoch)
	}
}

func lateRenewalAfterTakeover(w *world) {
	a, b := w.node(), w.node()
	a.acquire(1, "a")
	late := newMailbox()
	a.Path.Next("TransactWriteItems", late.post())
	_, err := a.Renew(w.giveUp(), w.group, []int{1}, "a", ttl)
	w.wantUnknown("renew", err)
	w.expire()
	b.acquire(1, "b")
	before := b.row(1)
	late.deliver()
	w.wantRow("the late renewal", before, b.row(1))
	if got := a.renew("a", 1); len(got) != 0 {
		w.Errorf("a renewed b's lease: %v", got)
	}
}

func lateRelease(w *world) {
	a := w.node()
	first := a.acquire(1, "a")
	late := newMailbox()
	a.Path.Next("UpdateItem", late.post())
	_, err := a.Release(w.giveUp(), w.group, 1, "a")
	w.wantUnknown("release", err)
	again := a.acquire(1, "a")
	if again.Epoch < first.Epoch {
		w.Errorf("epoch %d after %d", again.Epoch, first.Epoch)
	}
	before := a.row(1)
	late.deliver()
	w.wantRow("the late release", before, a.row(1))
}

func lateReleaseAfterTakeover(w *world) {
	a, b := w.node(), w.node()
	a.acquire(1, "a")
	late := newMailbox()
	a.Path.Next("UpdateItem", late.post())
	_, err := a.Release(w.giveUp(), w.group, 1, "a")
	w.wantUnknown("release", err)
	w.expire()
	b.acquire(1, "b")
	before := b.row(1)
	late.deliver()
	w.wantRow("the late release", before, b.row(1))
	if a.release(1, "a") {
		w.Error("a released b's lease")
	}
}

// prepare makes the row of partition 1 free, or leaves it absent, and has the node know the store's time.
func (n *node) prepare(present bool) {
	n.w.Helper()
	n.owners()
	if present {
		n.acquire(1, "z")
		n.release(1, "z")
	}
}

func lateAcquisition(w *world, present bool) {
	a := w.node()
	a.prepare(present)
	late := newMailbox()
	a.Path.Next("UpdateItem", late.post())
	lease := a.acquire(1, "a") // by its second request
	if !a.release(1, "a") {
		w.Error("the lease was not released")
	}
	late.deliver()
	if owners := a.owners(); len(owners) != 0 {
		w.Errorf("the late acquisition came back: %+v", owners)
	}
	if next := w.node().acquire(1, "b"); next.Epoch <= lease.Epoch {
		w.Errorf("epoch %d after %d", next.Epoch, lease.Epoch)
	}
}

func lateAcquisitionGivenUp(w *world, present, again bool) {
	a := w.node()
	a.prepare(present)
	late := newMailbox()
	a.Path.Next("UpdateItem", late.post())
	_, _, err := a.Acquire(w.giveUp(), w.group, 1, "a", ttl)
	w.wantUnknown("acquire", err)
	if again {
		a.acquire(1, "a")
	}
	if released := a.release(1, "a"); released != again {
		w.Errorf("released %v", released)
	}
	a.Close()
	late.deliver()
	if owners := a.owners(); len(owners) != 0 {
		w.Errorf("the late acquisition came back: %+v", owners)
	}
	w.node().acquire(1, "b")
}
