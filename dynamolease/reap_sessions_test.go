package dynamolease_test

import (
	"strings"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

const day = 24 * time.Hour

func TestReapSessions(t *testing.T) {
	for name, test := range map[string]func(w *world){
		"LS54/leases of a session that died go":               reapOfDeadSession,
		"LS54/leases of a closed session are freed":           reapOfClosedSession,
		"LS54/leases of a session that lives stay":            reapOfLiveSession,
		"LS54/leases of a session that cannot be read stay":   reapOfMalformedSession,
		"LS54/a look costs little, and comes once a day":      reapLooksOnceADay,
		"LS54/a look goes on where a run stopped":             reapLookResumes,
		"LS54/what was taken in between stays with its taker": reapTakenInBetween,
		"LS54/a time noted in the future delays no look":      reapLookedInTheFuture,
	} {
		t.Run(name, func(t *testing.T) { inVirtualTime(t, test) })
	}
}

// sessionsGo lets the rows of dead sessions be deleted, and a day pass, on which nobody looks at their leases.
func (w *world) sessionsGo() {
	w.Helper()
	time.Sleep(2 * time.Hour)
	w.node().reap(dynamolease.ReapConfig{})
	time.Sleep(day)
}

// A group whose service was killed and never started again leaves no rows behind.
func reapOfDeadSession(w *world) {
	a := w.node()
	a.open("a", ttl)
	var last int64
	for partition := range 3 {
		last = a.take(partition).Epoch
	}
	n := w.node()
	for range 6 {
		n.reap(dynamolease.ReapConfig{})
		time.Sleep(day)
	}
	if left := w.keys(); len(left) != 0 {
		w.Errorf("left are %v", left)
	}
	if lease := n.acquire(1, "b"); lease.Epoch <= last {
		w.Errorf("epoch %d after %d", lease.Epoch, last)
	}
}

func reapOfClosedSession(w *world) {
	a, n := w.node(), w.node()
	a.open("a", ttl)
	lease := a.take(1)
	a.Path.Next("UpdateItem", dynamotest.AccessDenied())
	if err := a.session.Close(w.Context()); err == nil {
		w.Fatal("released")
	}
	if report := n.reap(dynamolease.ReapConfig{}); report.Freed != 1 || report.Deleted != 0 || report.Due != 0 {
		w.Errorf("%+v", report)
	}
	row := a.row(1)
	if row["owner"] != nil || row["session"] != nil || row["ttl"] == nil || numberOf(row["epoch"]) != decimal(lease.Epoch) {
		w.Errorf("the row is %v", row)
	}
	if next := n.acquire(1, "b"); next.Epoch != lease.Epoch+1 {
		w.Errorf("epoch %d after %d", next.Epoch, lease.Epoch)
	}
}

func reapOfLiveSession(w *world) {
	a, n := w.node(), w.node()
	a.open("a", 2*day)
	lease := a.take(1)
	before := a.row(1)
	for range 9 {
		if report := n.reap(dynamolease.ReapConfig{}); report.Freed+report.Deleted+report.Raced > 0 {
			w.Errorf("%+v", report)
		}
		time.Sleep(day)
		a.beat()
	}
	w.wantRow("the lease", before, a.row(1))
	if lease.Remaining() == 0 {
		w.Error("the lease is over")
	}
}

func reapOfMalformedSession(w *world) {
	a, n := w.node(), w.node()
	a.open("a", ttl)
	a.take(1)
	row := a.sessionRow()
	row["exp"] = text("soon")
	w.Put(row)
	before := a.row(1)
	if report := n.reap(dynamolease.ReapConfig{}); report.Freed != 0 || report.Unreadable != 1 || !isRow(report.Malformed[0]) {
		w.Errorf("%+v", report)
	}
	w.wantRow("the lease", before, a.row(1))
}

// With 30 leases in three sessions, and a run every 10 minutes.
func reapLooksOnceADay(w *world) {
	for i, name := range []string{"a", "b", "c"} {
		n := w.node()
		n.open(name, 9*day)
		for partition := range 10 {
			n.take(10*i + partition)
		}
	}
	n := w.node()
	n.Path.Reset()
	for range 3 * 24 * 6 {
		n.reap(dynamolease.ReapConfig{})
		time.Sleep(10 * time.Minute)
	}
	var sessions, writes int
	for _, request := range n.Path.Requests() {
		switch {
		case request.Op == "GetItem" && strings.Contains(string(request.Body), "N#"):
			sessions++
		case request.Op == "UpdateItem":
			writes++
		}
	}
	if sessions != 3*3 || writes != 3 {
		w.Errorf("in three days %d reads of sessions and %d writes", sessions, writes)
	}
}

// Runs that stop early look at all rows, and at each once.
func reapLookResumes(w *world) {
	a := w.node()
	a.open("a", ttl)
	const leases = 7
	for partition := range leases {
		a.take(partition)
	}
	w.sessionsGo()
	freed := 0
	for range leases + 1 {
		report := w.node().reap(dynamolease.ReapConfig{Limit: 1})
		freed += report.Freed
	}
	if freed != leases {
		w.Errorf("%d leases were freed", freed)
	}
	if report := w.node().reap(dynamolease.ReapConfig{}); report.Freed > 0 || report.Stopped != "" {
		w.Errorf("at last: %+v", report)
	}
}

// Between the scan and the write another node takes the lease over, or the session itself, which opened anew, has it.
func reapTakenInBetween(w *world) {
	a, b, n := w.node(), w.node(), w.node()
	a.open("a", ttl)
	a.take(1)
	w.sessionsGo()
	b.open("b", 9*day)
	var taken dynamolease.Lease
	n.Path.Next("UpdateItem", dynamotest.Around(func() { taken = b.take(1) }, nil))
	report := n.reap(dynamolease.ReapConfig{})
	if report.Freed != 0 || report.Raced != 1 {
		w.Errorf("%+v", report)
	}
	if owners := w.node().owners(); len(owners) != 1 || owners[0].Epoch != taken.Epoch || taken.Remaining() == 0 {
		w.Errorf("owners %+v", owners)
	}
}

func reapLookedInTheFuture(w *world) {
	a := w.node()
	a.open("a", ttl)
	a.take(1)
	w.sessionsGo()
	w.putRow("R#reaper", "POSITION", attributes{"looked": millis(1000 * day)})
	if w.node().reap(dynamolease.ReapConfig{}); a.row(1)["owner"] != nil {
		w.Errorf("the row is %v", a.row(1))
	}
}

// Whatever happens to a request of it, a look frees what it must, and no more.
func TestReapSessionsOneFault(t *testing.T) {
	for _, op := range []string{"GetItem", "Scan", "UpdateItem"} {
		for _, fault := range faults {
			t.Run("LS54/"+op+"/"+fault.name, func(t *testing.T) {
				inVirtualTime(t, func(w *world) {
					a, live, n := w.node(), w.node(), w.node()
					a.open("a", ttl)
					a.take(1)
					w.sessionsGo()
					live.open("b", 9*day)
					lease := live.take(2)
					n.Path.Next(op, fault.fault)
					_, err := n.Reap(w.Context(), dynamolease.ReapConfig{})
					if (err != nil) != (fault.kind == hopeless) {
						w.Errorf("reap: %v", err)
					}
					n.reap(dynamolease.ReapConfig{})
					if row := a.row(1); row["owner"] != nil || row["ttl"] == nil {
						w.Errorf("the row is %v", row)
					}
					if lease.Remaining() == 0 || len(live.owners()) != 1 {
						w.Errorf("owners %+v", live.owners())
					}
				})
			})
		}
	}
}
