package dynamolease_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

func TestRelease(t *testing.T) {
	for name, test := range map[string]func(w *world){
		"LS19/by the holder":     releasesOwn,
		"LS20/by another":        releasesNothing(func(a, _ *node) { a.acquire(7, "a") }, func(_, b *node) bool { return b.release(7, "b") }),
		"LS20/after expiry":      releasesNothing(func(a, _ *node) { a.acquire(7, "a"); a.w.expire() }, releaseByA),
		"LS20/twice":             releasesNothing(func(a, _ *node) { a.acquire(7, "a"); a.release(7, "a") }, releaseByA),
		"LS20/of nothing":        releasesNothing(func(_, _ *node) {}, releaseByA),
		"LS20/after a take-over": releasesNothing(func(a, b *node) { a.acquire(7, "a"); a.w.expire(); b.acquire(7, "b") }, releaseByA),
		"LS20/in a session": releasesNothing(func(a, _ *node) { a.open("a", ttl); a.take(7) },
			func(a, b *node) bool { return a.release(7, "a") || b.release(7, "b") }),
		"LS20/by another session": releasesNothing(func(a, b *node) { a.open("a", ttl); a.take(7); b.open("a", ttl) },
			func(_, b *node) bool { return b.drop(7) }),
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

func releaseByA(a, _ *node) bool { return a.release(7, "a") }

// drop releases a lease of the node's session.
func (n *node) drop(partition int) bool {
	n.w.Helper()
	released, err := n.session.Release(n.w.Context(), n.w.group, partition)
	if err != nil {
		n.w.Fatalf("release %d of %s: %v", partition, n.session.ID(), err)
	}
	return released
}

// releasesNothing prepares a row, runs what must not release anything, and checks that the row is as it was before that. It
// does not even get another rev: what is on its way on top of it stays possible.
func releasesNothing(prepare func(a, b *node), release func(a, b *node) bool) func(w *world) {
	return func(w *world) {
		a, b := w.node(), w.node()
		prepare(a, b)
		before := a.row(7)
		for range 2 {
			if release(a, b) {
				w.Error("released")
			}
		}
		if a.release(7, "nobody") {
			w.Error("released for nobody")
		}
		if after := a.row(7); !reflect.DeepEqual(before, after) {
			w.Errorf("the row changed from %v to %v", before, after)
		}
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

// LS20: a release whose answer is lost is of unknown outcome, if the lease has its next holder by now and the time is not
// known: the row does not tell.
func TestReleaseHiddenLS20(t *testing.T) {
	for name, release := range map[string]func(n *node) error{
		"of an owner": func(n *node) error {
			n.acquire(1, "a")
			n.hide(1)
			_, err := n.Release(n.w.Context(), n.w.group, 1, "a")
			return err
		},
		"of a session": func(n *node) error {
			n.open("a", ttl)
			n.take(1)
			n.hide(1)
			_, err := n.session.Release(n.w.Context(), n.w.group, 1)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				if err := release(w.node()); !errors.Is(err, dynamolease.ErrUnknownOutcome) {
					w.Errorf("error %v", err)
				}
			})
		})
	}
}

// hide has the node's next write applied, and its answer lost. Another owner acquires the partition. The node forgets the time,
// sees the row when it knows it again, and then forgets it for good.
func (n *node) hide(partition int) {
	other := n.w.node()
	n.Path.Next("UpdateItem", dynamotest.All(dynamotest.Around(nil, func() {
		other.acquire(partition, "b")
		n.Suspend(ttl / 10)
	}), dynamotest.LoseResponse()))
	for range 2 {
		n.Path.Next("GetItem", sent)
	}
	n.Path.Next("GetItem", dynamotest.Around(nil, func() {
		n.Suspend(ttl / 10)
		n.Path.Date(func(time.Time) string { return "" })
	}))
}
