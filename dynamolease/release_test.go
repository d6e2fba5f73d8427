package dynamolease_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestRelease(t *testing.T) {
	for name, test := range map[string]func(w *world){
		"LS19/by the holder":     releasesOwn,
		"LS20/by another":        releasesNothing(func(a, b *node) bool { a.acquire(7, "a"); return b.release(7, "b") }),
		"LS20/after expiry":      releasesNothing(func(a, b *node) bool { a.acquire(7, "a"); a.w.expire(); return a.release(7, "a") }),
		"LS20/twice":             releasesNothing(func(a, b *node) bool { a.acquire(7, "a"); a.release(7, "a"); return a.release(7, "a") }),
		"LS20/of nothing":        releasesNothing(func(a, b *node) bool { return a.release(7, "a") }),
		"LS20/after a take-over": doesNotReleaseASuccessor,
	} {
		t.Run(name, func(t *testing.T) { inVirtualTime(t, test) })
	}
}

func releasesOwn(w *world) {
	a, b := w.node(), w.node()
	lease := a.acquire(7, "a")
	if !a.release(7, "a") {
		w.Error("not released")
	}
	if owners := a.owners(); len(owners) != 0 {
		w.Errorf("owners %+v", owners)
	}
	if row := a.row(7); numberOf(row["epoch"]) != fmt.Sprint(lease.Epoch) {
		w.Errorf("the row does not keep its epoch: %v", row)
	}
	b.acquire(7, "b")
}

// releasesNothing runs what must not release anything, and checks that it left the row alone.
func releasesNothing(release func(a, b *node) bool) func(w *world) {
	return func(w *world) {
		a, b := w.node(), w.node()
		if release(a, b) {
			w.Error("released")
		}
		before := a.row(7)
		if release := a.release(7, "nobody"); release {
			w.Error("released for nobody")
		}
		if after := a.row(7); !reflect.DeepEqual(before, after) {
			w.Errorf("the row changed from %v to %v", before, after)
		}
	}
}

func doesNotReleaseASuccessor(w *world) {
	a, b := w.node(), w.node()
	a.acquire(7, "a")
	w.expire()
	b.acquire(7, "b")
	before := a.row(7)
	if a.release(7, "a") {
		w.Error("released the successor's lease")
	}
	if after := a.row(7); !reflect.DeepEqual(before, after) {
		w.Errorf("the row changed from %v to %v", before, after)
	}
}

func TestOwners(t *testing.T) {
	t.Run("LS21/live leases in partition order", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			a := w.node()
			for _, partition := range []int{11, 2, 9_999_999_999, 0, 100} {
				a.acquire(partition, "a")
			}
			a.release(100, "a")
			a.plant(50, "gone", 1000, "1000")
			if got := partitionsOf(a.owners()); got != "0 2 11 9999999999" {
				w.Errorf("owners %s", got)
			}
			w.expire()
			if owners := a.owners(); len(owners) != 0 {
				w.Errorf("owners %+v after all expired", owners)
			}
		})
	})
	t.Run("LS21/none for an unknown group", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			if owners := w.node().owners(); len(owners) != 0 {
				w.Errorf("owners %+v", owners)
			}
		})
	})
	t.Run("LS21/complete past 1 MB of rows", func(t *testing.T) { ownersPastOnePage(newWorld(t)) })
}

// Rows of 300 KB fill pages of 1 MB quickly.
func ownersPastOnePage(w *world) {
	a := w.node()
	exp := fmt.Sprint(time.Now().Add(time.Hour).UnixMilli())
	for partition := range 10 {
		item := w.leaseKey(partition)
		item["owner"], item["epoch"], item["exp"], item["rev"] = text("a"), number("5"), number(exp), text("planted")
		item["padding"] = text(strings.Repeat("x", 300_000))
		w.Put(item)
	}
	if got := partitionsOf(a.owners()); got != "0 1 2 3 4 5 6 7 8 9" {
		w.Errorf("owners %s", got)
	}
	if n := a.Path.Count("Query"); n < 2 {
		w.Errorf("%d Query, want several pages", n)
	}
}
