package dynamolease_test

import (
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// LS30: a malformed row is an error that names it, and costs no other row anything.
func TestMalformedRowLS30AmongOthers(t *testing.T) {
	for name, test := range map[string]func(w *world, a *node, spoil func(partition int)){
		"renewal by transactions": func(w *world, a *node, spoil func(int)) { renewAround(w, a, spoil) },
		"renewal of each item": func(w *world, _ *node, spoil func(int)) {
			renewAround(w, w.node(func(o *dynamolease.Options) { o.Renewal = dynamolease.EachItem }), spoil)
		},
		"renewal by another store": func(w *world, a *node, spoil func(int)) {
			a.acquireMany("a", 4)
			spoil(1)
			spoil(2)
			leases, err := w.node().Renew(w.Context(), w.group, upTo(4), "a", ttl)
			wantRowError(w, "renew", 1, err)
			w.wantPartitions(leases, "0 3")
		},
		"owners": func(w *world, a *node, spoil func(int)) {
			a.acquireMany("a", 4)
			spoil(1)
			owners, err := a.Owners(w.Context(), w.group)
			wantRowError(w, "owners", 1, err)
			w.wantPartitions(owners, "0 2 3")
		},
		"owners in a session that is malformed": func(w *world, a *node, _ func(int)) {
			a.open("a", ttl)
			a.take(1)
			w.node().acquire(2, "b")
			row := a.sessionRow()
			row["exp"] = text("soon")
			w.Put(row)
			w.expire()
			owners, err := a.Owners(w.Context(), w.group)
			if err == nil {
				w.Error("no error")
			}
			w.wantPartitions(owners, "1") // it may live, for all that anybody knows
		},
		"members": func(w *world, a *node, _ func(int)) {
			a.heartbeat("a", "a:1")
			a.heartbeat("c", "c:1")
			row := key("M#"+w.service, "N#b")
			row["node"] = text("b")
			w.Put(row)
			members, err := a.Members(w.Context(), w.service)
			if err == nil || len(members) != 2 {
				w.Errorf("members %+v, %v", members, err)
			}
		},
		"release of a session's": func(w *world, a *node, spoil func(int)) {
			a.open("a", ttl)
			for partition := range 4 {
				a.take(partition)
			}
			spoil(2)
			wantRowError(w, "release all", 2, a.session.ReleaseAll(w.Context()))
			owners, err := a.Owners(w.Context(), w.group)
			wantRowError(w, "owners", 2, err)
			w.wantPartitions(owners, "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				test(w, w.node(), func(partition int) {
					row := w.leaseKey(partition)
					row["owner"], row["epoch"], row["rev"] = text("a"), text("five"), text("r")
					w.Put(row)
				})
			})
		})
	}
}

// renewAround renews leases, of which some are spoilt, for longer than a ttl.
func renewAround(w *world, a *node, spoil func(partition int)) {
	a.acquireMany("a", 4)
	spoil(1)
	spoil(2)
	for range 5 {
		time.Sleep(ttl / 3)
		leases, err := a.Renew(w.Context(), w.group, upTo(4), "a", ttl)
		wantRowError(w, "renew", 1, err)
		w.wantPartitions(leases, "0 3")
	}
	w.deleteRow(1)
	w.deleteRow(2)
	w.wantPartitions(a.renew("a", 0, 1, 2, 3), "0 3")
}

func (w *world) wantPartitions(leases []dynamolease.Lease, want string) {
	w.Helper()
	if got := partitionsOf(leases); got != want {
		w.Errorf("partitions %q, want %q", got, want)
	}
}
