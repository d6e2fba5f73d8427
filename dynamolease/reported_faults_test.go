package dynamolease_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// Faults that users of other lease and lock libraries reported.
func TestReportedFaults(t *testing.T) {
	for _, test := range []struct {
		name string
		run  func(w *world)
	}{
		{"C01/a renewal that was applied is not lost", knowsItsOwnRenewal},
		{"C05/one stolen of three", losesOnlyTheStolen},
		{"C07/a token that does not fit is no loss", survivesTokenMismatch},
		{"C11/released right after it was acquired", releasesAtOnce},
		{"C12/repeated tries take over", takesOverByTrying},
		{"C15/expired leases are claimed whatever the balance", claimsBeyondItsShare},
		{"C17/minutes ahead", func(w *world) { skewAlone(w, 3*time.Minute) }},
		{"C17/minutes behind", func(w *world) { skewAlone(w, -3*time.Minute) }},
		{"C19/units around the boundary", judgesUnits},
		{"C20/thawed", thaws},
		{"C22/a late reply", countsFromSending},
		{"C26/unreachable", unreachable},
		{"C30/the loser releases", loserReleases},
		{"C59/a row past its ttl", ttlIsNoExpiry},
		{"C61/two groups", groupsAreIndependent},
	} {
		t.Run(test.name, func(t *testing.T) { inVirtualTime(t, test.run) })
	}
}

func knowsItsOwnRenewal(w *world) {
	a := w.node()
	lease := a.acquire(1, "a")
	time.Sleep(time.Second)
	a.Path.Next("TransactWriteItems", dynamotest.LoseResponse())
	a.Path.Reset()
	if got := a.renew("a", 1); len(got) != 1 || got[0].Epoch != lease.Epoch {
		w.Errorf("renewed %+v", got)
	}
	if a.Path.Count("") != 2 || a.Path.Count("TransactWriteItems") != 2 {
		w.Errorf("requests %d, want two transactions and no read", a.Path.Count(""))
	}
}

func losesOnlyTheStolen(w *world) {
	a, b := w.node(), w.node()
	a.acquireMany("a", 3)
	held := a.owners()
	a.release(held[1].Partition, "a") // by its other self, so that the store does not know
	stolen := b.acquire(held[1].Partition, "b")
	got := a.renew("a", held[0].Partition, held[1].Partition, held[2].Partition)
	if len(got) != 2 || got[0].Partition != held[0].Partition || got[1].Partition != held[2].Partition {
		w.Errorf("renewed %s", partitionsOf(got))
	}
	if now := a.owners(); now[1].Owner != "b" || now[1].Epoch != stolen.Epoch {
		w.Errorf("owners %+v", now)
	}
}

func survivesTokenMismatch(w *world) {
	mismatch := dynamotest.Reply(400, "IdempotentParameterMismatchException", "The token does not fit")
	for _, fault := range []dynamotest.Fault{mismatch, after(mismatch)} {
		a := w.node()
		lease := a.acquire(1, "a")
		a.Path.Next("TransactWriteItems", fault)
		if got := a.renew("a", 1); len(got) != 1 || got[0].Epoch != lease.Epoch {
			w.Errorf("renewed %+v", got)
		}
	}
}

func releasesAtOnce(w *world) {
	a := w.node()
	for range 5 {
		a.acquire(1, "a")
		if !a.release(1, "a") {
			w.Error("not released")
		}
	}
	for _, request := range a.Path.Requests() {
		if request.Op != "GetItem" && request.Op != "UpdateItem" {
			w.Errorf("ownership was decided with a %s", request.Op)
		}
	}
}

func takesOverByTrying(w *world) {
	a, b := w.node(), w.node()
	a.acquire(1, "a")
	for range 2 {
		b.refused(1, "b")
		time.Sleep(ttl / 2)
	}
	time.Sleep(graceOfExpiry)
	b.acquire(1, "b")
	w.expire()
	w.node().acquire(1, "c") // which had not seen it before
}

func claimsBeyondItsShare(w *world) {
	nodes := []*node{w.node(), w.node(), w.node()}
	for i := range 9 {
		nodes[i%3].acquire(i, "n"+strconv.Itoa(i%3))
	}
	w.node().acquire(9, "dead")
	for range 3 {
		time.Sleep(ttl / 2)
		for i, n := range nodes {
			n.renew("n"+strconv.Itoa(i), i, i+3, i+6)
		}
	}
	nodes[0].acquire(9, "n0")
}

// skewAlone has b's wall clock jump and stay wrong.
func skewAlone(w *world, skew time.Duration) {
	a, b := w.node(), w.node()
	b.owners()
	w.holdAndTake(a, b, func(step int) {
		if step == 1 {
			b.Step(skew)
		}
	})
}

func judgesUnits(w *world) {
	a := w.node()
	for range 30 { // at one moment, until the bounds have settled
		a.owners()
	}
	earliest, _, _ := a.Now()
	for by, live := range map[int64]bool{-1000: false, -1: false, 0: false, 1: true, 1000: true} {
		a.plant(1, "z", 1, decimal(earliest.UnixMilli()+by))
		if got := len(a.owners()) == 1; got != live {
			w.Errorf("with an expiry %d ms from now: live %v, want %v", by, got, live)
		}
	}
	if again, _, _ := a.Now(); !again.Equal(earliest) {
		w.Fatalf("the time went from %v to %v meanwhile", earliest, again)
	}
	lease := a.acquire(2, "a")
	exp, _ := strconv.ParseInt(numberOf(a.row(2)["exp"]), 10, 64)
	seconds, _ := strconv.ParseInt(numberOf(a.row(2)["ttl"]), 10, 64)
	if exp != lease.ExpiresAt.UnixMilli() {
		w.Errorf("exp %d, lease expires at %v", exp, lease.ExpiresAt)
	}
	if kept := time.Unix(seconds, 0).Sub(lease.ExpiresAt); kept < 24*time.Hour || kept > 24*time.Hour+2*time.Second {
		w.Errorf("the row is kept for %v after its expiry", kept)
	}
}

func thaws(w *world) {
	a, b := w.node(), w.node()
	lease := a.acquire(1, "a")
	a.Suspend(5 * ttl)
	b.acquire(1, "b")
	a.Path.Reset()
	if left := lease.Remaining(); left != 0 {
		w.Errorf("%v left", left)
	}
	if a.Path.Count("") != 0 {
		w.Error("it took a request to find out")
	}
	if got := a.renew("a", 1); len(got) != 0 {
		w.Errorf("renewed %v", got)
	}
}

func countsFromSending(w *world) {
	a := w.node()
	a.acquire(1, "a")
	time.Sleep(time.Second)
	const late = ttl / 7
	a.Path.Next("TransactWriteItems", dynamotest.DelayResponse(late))
	sent := time.Now()
	got := a.renew("a", 1)
	if len(got) != 1 || got[0].Remaining() != ttl-time.Since(sent) {
		w.Errorf("renewed %+v", got)
	}
	if a.Path.Count("TransactWriteItems") != 1 {
		w.Error("the reply was not waited for")
	}
	// A reply that is later than a request may take: the lease counts from the request whose answer came.
	a.Path.Next("TransactWriteItems", dynamotest.DelayResponse(ttl*9/10))
	a.Path.Next("TransactWriteItems", dynamotest.Around(func() { sent = time.Now() }, nil))
	if got := a.renew("a", 1); len(got) != 1 || got[0].Remaining() != ttl-time.Since(sent) {
		w.Errorf("renewed %+v", got)
	}
}

func unreachable(w *world) {
	a := w.node()
	lease := a.acquire(1, "a")
	start := time.Now()
	stop := a.Path.Every("", dynamotest.ServerError(503))
	for time.Since(start) < 2*ttl+graceOfExpiry {
		if _, err := a.Renew(w.Context(), w.group, []int{1}, "a", ttl); err == nil {
			w.Fatal("renewed")
		}
		if left := lease.Remaining(); left > max(0, ttl-time.Since(start)) {
			w.Errorf("%v left after %v", left, time.Since(start))
		}
	}
	stop()
	if got := a.renew("a", 1); len(got) != 0 {
		w.Errorf("renewed %v after it expired", got)
	}
	if again := a.acquire(1, "a"); again.Epoch != lease.Epoch+1 {
		w.Errorf("epoch %d after %d", again.Epoch, lease.Epoch)
	}
}

func loserReleases(w *world) {
	a, b := w.node(), w.node()
	a.acquire(1, "a")
	w.expire()
	b.acquire(1, "b")
	before := a.row(1)
	for range 2 {
		if a.release(1, "a") {
			w.Error("a released what b holds")
		}
	}
	w.wantRow("the loser's release", before, a.row(1))
	a.refused(1, "a")
	if got := b.renew("b", 1); len(got) != 1 {
		w.Errorf("b lost it: %v", got)
	}
}

func ttlIsNoExpiry(w *world) {
	a, b := w.node(), w.node()
	row := w.leaseKey(1)
	for name, value := range map[string]attributeValue{
		"owner": text("z"), "epoch": number("5"), "rev": text("r"), "ttl": number("1"),
		"exp": number(decimal(time.Now().Add(ttl).UnixMilli())),
	} {
		row[name] = value
	}
	w.Put(row)
	a.refused(1, "a")
	if len(a.owners()) != 1 {
		w.Error("a live lease is not listed, since its row may be thrown away")
	}
	if got := b.renew("z", 1); len(got) != 1 {
		w.Errorf("renewed %v", got)
	}
	w.expire()
	if lease := a.acquire(1, "a"); lease.Epoch != 6 {
		w.Errorf("epoch %d", lease.Epoch)
	}
}

func groupsAreIndependent(w *world) {
	a, b := w.node(), w.node()
	other := *w
	other.group = w.group + "#" // a name that the key of the first group is a prefix of
	b.w = &other
	a.acquire(1, "a")
	b.acquire(1, "b")
	a.release(1, "a")
	if len(a.owners()) != 0 || partitionsOf(b.owners()) != "1" {
		w.Errorf("owners %v and %v", a.owners(), b.owners())
	}
	for _, n := range []*node{a, b} {
		for _, request := range n.Path.Requests() {
			if request.Op == "Scan" {
				w.Error("a Scan cannot be limited to one group's keys")
			}
		}
	}
}
