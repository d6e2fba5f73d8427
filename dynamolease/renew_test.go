package dynamolease_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

func TestRenew(t *testing.T) {
	for name, test := range map[string]func(w *world, how option){
		"LS12/exactly the leases held":       renewsWhatIsHeld,
		"LS12/by a store that knows no rows": renewsUnknownRows,
		"LS13/never an expired one":          renewsNoExpired,
		"LS14/nothing":                       renewsNothing,
		"LS14/duplicates":                    renewsDuplicatesOnce,
		"LS15/one lost among 100":            renewsTheOthers,
		"LS41/extended by another store":     renewsWhatAnotherStoreExtended,
	} {
		t.Run(name, func(t *testing.T) {
			for mode, how := range modes {
				t.Run(mode, func(t *testing.T) {
					inVirtualTime(t, func(w *world) { test(w, how) })
				})
			}
		})
	}
}

type option = func(*dynamolease.Options)

var modes = map[string]option{
	"transactions": func(o *dynamolease.Options) { o.Renewal = dynamolease.Transactions },
	"each item":    func(o *dynamolease.Options) { o.Renewal = dynamolease.EachItem },
}

func renewsWhatIsHeld(w *world, how option) {
	a, b := w.node(how), w.node(how)
	held := []dynamolease.Lease{a.acquire(9, "a"), a.acquire(3, "a")}
	a.acquire(4, "a")
	a.release(4, "a")
	b.acquire(5, "b")
	a.plant(6, "a", 1000, "1000") // expired long ago
	time.Sleep(ttl / 2)
	renewed := a.renew("a", 9, 7, 6, 5, 4, 3)
	if got := partitionsOf(renewed); got != "3 9" {
		w.Fatalf("renewed %s, want 3 9", got)
	}
	for i, lease := range []dynamolease.Lease{held[1], held[0]} {
		if renewed[i].Epoch != lease.Epoch || renewed[i].Owner != "a" || renewed[i].Group != w.group {
			w.Errorf("renewed %+v, was %+v", renewed[i], lease)
		}
		if renewed[i].Remaining() != ttl || renewed[i].ExpiresAt.Before(time.Now().Add(ttl)) {
			w.Errorf("remaining %v, expires at %v: want %v from now", renewed[i].Remaining(), renewed[i].ExpiresAt, ttl)
		}
	}
	if got := partitionsOf(a.owners()); got != "3 5 9" {
		w.Errorf("owners %s, want 3 5 9", got)
	}
}

func renewsUnknownRows(w *world, how option) {
	a, again := w.node(how), w.node(how)
	for _, partition := range []int{1, 2, 30} {
		a.acquire(partition, "a")
	}
	time.Sleep(ttl / 2)
	if got := partitionsOf(again.renew("a", 1, 2, 3, 30)); got != "1 2 30" {
		w.Fatalf("renewed %s, want 1 2 30", got)
	}
	if again.Path.Count("Query") != 1 || again.Path.Count("GetItem") != 0 {
		w.Errorf("requests %v, want one Query before the writes", again.Path.Requests())
	}
	again.Path.Reset()
	again.renew("a", 1, 2, 30)
	if n := again.Path.Count("Query"); n != 0 {
		w.Errorf("%d Queries for leases that this store renewed before", n)
	}
}

func renewsNoExpired(w *world, how option) {
	a := w.node(how)
	a.acquire(7, "a")
	w.expire()
	before := a.row(7)
	if renewed := a.renew("a", 7); len(renewed) != 0 {
		w.Errorf("renewed %+v", renewed)
	}
	if after := a.row(7); !reflect.DeepEqual(before, after) {
		w.Errorf("the row changed from %v to %v", before, after)
	}
	if a.Path.Count("TransactWriteItems") != 0 {
		w.Error("a transaction was sent for an expired lease")
	}
}

func renewsNothing(w *world, how option) {
	a := w.node(how)
	if renewed := a.renew("a"); len(renewed) != 0 {
		w.Errorf("renewed %+v", renewed)
	}
	if n := a.Path.Count(""); n != 0 {
		w.Errorf("%d requests, want none", n)
	}
}

func renewsDuplicatesOnce(w *world, how option) {
	a := w.node(how)
	a.acquire(7, "a")
	a.acquire(8, "a")
	a.Path.Reset()
	if got := partitionsOf(a.renew("a", 8, 7, 8, 7, 7)); got != "7 8" {
		w.Errorf("renewed %s, want 7 8", got)
	}
	if n := a.Path.Count(""); n > 2 {
		w.Errorf("%d requests for two leases", n)
	}
}

func renewsTheOthers(w *world, how option) {
	a, b := w.node(how), w.node(how)
	partitions := a.acquireMany("a", 100)
	// b takes one over while a does not look: freed past a's store, as an operator would.
	w.deleteRow(41)
	b.acquire(41, "b")
	renewed := a.renew("a", partitions...)
	if len(renewed) != 99 || slices.ContainsFunc(renewed, func(l dynamolease.Lease) bool { return l.Partition == 41 }) {
		w.Errorf("renewed %d: %s", len(renewed), partitionsOf(renewed))
	}
	if got := a.refused(41, "a"); got.Owner != "b" {
		w.Errorf("41 belongs to %q", got.Owner)
	}
}

// Another store of the same owner wrote last, so the rev that this one remembers is old: the refusal brings the row
// along, and it is still the owner's.
func renewsWhatAnotherStoreExtended(w *world, how option) {
	a, twin := w.node(how), w.node(how)
	first := a.acquire(7, "a")
	time.Sleep(time.Second)
	twin.renew("a", 7)
	time.Sleep(time.Second)
	renewed := a.renew("a", 7)
	if len(renewed) != 1 || renewed[0].Epoch != first.Epoch || renewed[0].Remaining() != ttl {
		w.Errorf("renewed %+v", renewed)
	}
}

// LS14: how many requests.
func TestRenewLS14(t *testing.T) {
	for _, c := range []struct{ leases, requests int }{{1, 1}, {2, 1}, {100, 1}, {101, 2}, {250, 3}} {
		t.Run(fmt.Sprint(c.leases), func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a := w.node()
				partitions := a.acquireMany("a", c.leases)
				a.Path.Reset()
				if n := len(a.renew("a", partitions...)); n != c.leases {
					w.Errorf("renewed %d", n)
				}
				if got := a.Path.Count(""); got != c.requests || a.Path.Count("TransactWriteItems") != got {
					w.Errorf("%d requests, want %d transactions", got, c.requests)
				}
			})
		})
	}
}

// acquireMany acquires partitions 0 to n-1.
func (n *node) acquireMany(owner string, count int) []int {
	n.w.Helper()
	partitions := make([]int, count)
	for i := range partitions {
		partitions[i] = i
		n.acquire(i, owner)
	}
	return partitions
}
