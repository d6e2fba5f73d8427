package dynamolease_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

func TestMembers(t *testing.T) {
	for name, test := range map[string]func(w *world){
		"LS23/a heartbeat makes a member":        joins,
		"LS24/a later heartbeat replaces":        replaces,
		"LS25/without heartbeats it disappears":  disappears,
		"LS26/leave":                             leaves,
		"LS26/leave of a node in sessions":       leavesSessions,
		"LS26/leave of an unknown node":          leavesUnknown,
		"LS27/live only":                         listsLiveOnly,
		"LS27/live only, in node order":          listsInOrder,
		"LS27/per service":                       keepsServicesApart,
		"LS28/one write and one read each round": costsOneOfEach,
	} {
		t.Run(name, func(t *testing.T) { inVirtualTime(t, test) })
	}
}

func joins(w *world) {
	a := w.node()
	member := a.heartbeat("n1", "10.0.0.7:8080")
	if member.Service != w.service || member.Node != "n1" || member.Address != "10.0.0.7:8080" || len(member.Groups) != 0 {
		w.Errorf("member %+v", member)
	}
	if member.ExpiresAt.Before(time.Now().Add(ttl)) {
		w.Errorf("expires at %v, want %v from now", member.ExpiresAt, ttl)
	}
	if got := a.members(); len(got) != 1 || !sameMember(got[0], member) {
		w.Errorf("members %+v, want %+v", got, member)
	}
}

func replaces(w *world) {
	a := w.node()
	a.heartbeat("n1", "10.0.0.7:8080", "orders", "mails", "orders")
	if got := a.members()[0].Groups; !slices.Equal(got, []string{"mails", "orders"}) {
		w.Errorf("groups %v", got)
	}
	time.Sleep(ttl / 2)
	again := a.heartbeat("n1", "10.0.0.8:8080", "mails")
	if got := a.members(); len(got) != 1 || !sameMember(got[0], again) || !slices.Equal(got[0].Groups, []string{"mails"}) {
		w.Errorf("members %+v", got)
	}
	if again.ExpiresAt.Before(time.Now().Add(ttl)) {
		w.Error("the ttl did not start again")
	}
	// A node that restarted, with a store that knows nothing, on another address and in no group.
	w.node().heartbeat("n1", "10.0.0.9:8080")
	if got := a.members(); len(got) != 1 || got[0].Address != "10.0.0.9:8080" || len(got[0].Groups) != 0 {
		w.Errorf("members after the restart %+v", got)
	}
}

func disappears(w *world) {
	a := w.node()
	a.heartbeat("n1", "here")
	time.Sleep(ttl)
	if got := a.members(); len(got) != 1 {
		w.Errorf("gone before its ttl was surely over: %+v", got)
	}
	w.expire()
	if got := a.members(); len(got) != 0 {
		w.Errorf("members %+v after the expiry", got)
	}
	a.heartbeat("n1", "here")
	if got := a.members(); len(got) != 1 {
		w.Errorf("members %+v after it came back", got)
	}
	// Also after it has left, by the store that has marked its row and by another.
	for _, n := range []*node{a, w.node()} {
		n.leave("n1")
		n.heartbeat("n1", "here")
		if got := a.members(); len(got) != 1 {
			w.Errorf("members %+v after it left and came back", got)
		}
	}
}

func leaves(w *world) {
	a := w.node()
	a.heartbeat("n1", "here")
	a.heartbeat("n2", "there")
	a.acquire(7, "n1")
	w.node().leave("n1") // by a store that never saw the row, as an operator's would be
	if got := a.members(); len(got) != 1 || got[0].Node != "n2" {
		w.Errorf("members %+v", got)
	}
	if got := a.owners(); len(got) != 1 || got[0].Owner != "n1" {
		w.Errorf("owners %+v: the leases stay", got)
	}
	a.leave("n2")
	if got := a.members(); len(got) != 0 {
		w.Errorf("members %+v", got)
	}
}

// A node is a member by its sessions, too: all that are open are left, and live on with their leases.
func leavesSessions(w *world) {
	a, b, other := w.node(), w.node(), w.node()
	a.open("n1", ttl)
	lease := a.take(7)
	b.open("n1", ttl) // of a process that has restarted
	other.open("n2", ttl)
	other.leave("n1")
	if got := other.members(); len(got) != 1 || got[0].Node != "n2" {
		w.Errorf("members %+v", got)
	}
	a.beat() // it lives: CO17
	if got := other.members(); len(got) != 2 || got[0].Session != a.session.ID() {
		w.Errorf("members after a heartbeat %+v", got)
	}
	other.leave("n1")
	if got := other.owners(); len(got) != 1 || got[0].Session != lease.Session || lease.Remaining() != ttl {
		w.Errorf("owners %+v, %v left: the leases stay", got, lease.Remaining())
	}
	if err := other.session.Leave(w.Context()); err != nil {
		w.Fatal(err)
	}
	if got := other.members(); len(got) != 0 {
		w.Errorf("members %+v", got)
	}
}

func leavesUnknown(w *world) {
	a := w.node()
	a.leave("nobody")
	a.heartbeat("n1", "here")
	a.leave("n1")
	a.leave("n1")
	if got := a.members(); len(got) != 0 {
		w.Errorf("members %+v", got)
	}
}

func listsInOrder(w *world) {
	a := w.node()
	for _, name := range []string{"b", "é", "a", "B", "a10", "a2"} {
		a.heartbeat(name, "here")
	}
	var names []string
	for _, member := range a.members() {
		names = append(names, member.Node)
	}
	if want := []string{"B", "a", "a10", "a2", "b", "é"}; !slices.Equal(names, want) {
		w.Errorf("members %v, want %v", names, want)
	}
}

// Those that have expired or left are not listed, and a node that restarted is, once, by its newest session.
func listsLiveOnly(w *world) {
	a, b, c := w.node(), w.node(), w.node()
	a.heartbeat("gone", "here")
	a.open("silent", ttl)
	w.expire()
	a.heartbeat("left", "here")
	a.leave("left")
	a.heartbeat("live", "here")
	b.open("twice", ttl)
	c.open("twice", ttl)
	b.beat() // the older one's process is there still
	var list []string
	for _, member := range w.node().members() {
		list = append(list, member.Node+" "+member.Session)
	}
	if want := []string{"live ", "twice " + c.session.ID()}; !slices.Equal(list, want) {
		w.Errorf("members %q, want %q", list, want)
	}
}

func keepsServicesApart(w *world) {
	a := w.node()
	a.heartbeat("n1", "here")
	if got, err := a.Members(w.Context(), w.service+"-other"); err != nil || len(got) != 0 {
		w.Errorf("members of another service %+v, %v", got, err)
	}
}

func costsOneOfEach(w *world) {
	for _, groups := range []int{0, 1, 100} {
		var names []string
		for i := range groups {
			names = append(names, fmt.Sprint("group", i))
		}
		a := w.node()
		a.heartbeat("n1", "here", names...)
		for range 3 {
			time.Sleep(ttl / 3)
			a.Path.Reset()
			a.heartbeat("n1", "here", names...)
			a.members()
			if a.Path.Count("UpdateItem") != 1 || a.Path.Count("Query") != 1 || a.Path.Count("") != 2 {
				w.Errorf("%d groups: requests %v, want one write and one read", groups, a.Path.Requests())
			}
		}
	}
}

func sameMember(a, b dynamolease.Member) bool {
	return a.Service == b.Service && a.Node == b.Node && a.Address == b.Address && a.ExpiresAt.Equal(b.ExpiresAt) && slices.Equal(a.Groups, b.Groups)
}
