package dynamolease_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

func TestDrain(t *testing.T) {
	for name, test := range map[string]func(w *world){
		"members say so, until it is undrained": drainMembers,
		"the names are listed":                  drainedNames,
		"it outlives a restart, and the reaper": drainRestart,
		"a late one does not come back":         drainLate,
		"a late end of it does not come back":   drainLateEnd,
		"it concerns no session and no lease":   drainLeases,
		"LS54/it goes 30 days after its node":   drainOfNobody,
		"LS54/it stays while its node is there": drainStays,
		"LS54/its end is not undone":            drainRefreshLate,
	} {
		t.Run(name, func(t *testing.T) { inVirtualTime(t, test) })
	}
}

func (n *node) drain(name string, on bool) {
	n.w.Helper()
	set := n.Undrain
	if on {
		set = n.Drain
	}
	if err := set(n.w.Context(), n.w.service, name); err != nil {
		n.w.Fatal(err)
	}
}

// drained are the names of the members that are.
func (n *node) drained() (names string) {
	n.w.Helper()
	for _, member := range n.members() {
		if member.Drained {
			names += member.Node
		}
	}
	return names
}

func drainMembers(w *world) {
	n, operator := w.node(), w.node()
	n.heartbeat("A", "host:1")
	n.heartbeat("B", "host:2")
	operator.drain("C", false)
	for _, step := range []struct {
		name string
		on   bool
		want string
	}{{"A", true, "A"}, {"A", true, "A"}, {"B", true, "AB"}, {"A", false, "B"}, {"A", false, "B"}, {"C", true, "B"}, {"B", false, ""}} {
		operator.drain(step.name, step.on)
		if got := n.drained(); got != step.want {
			w.Errorf("after %+v: %q", step, got)
		}
	}
	if got := n.members(); len(got) != 2 {
		w.Errorf("members are %+v", got)
	}
}

// What is drained is listed, members or not, and what is malformed costs no other.
func drainedNames(w *world) {
	n := w.node()
	n.heartbeat("A", "host:1")
	for _, name := range []string{"z", "A", "gone", "was"} {
		n.drain(name, true)
	}
	n.drain("was", false)
	row := key("M#"+w.service, "D#broken")
	row["node"], row["rev"] = text("another"), text("r")
	names, err := n.Drained(w.Context(), w.service)
	if err != nil || strings.Join(names, " ") != "A gone z" {
		w.Errorf("drained are %q, %v", names, err)
	}
	w.Put(row)
	names, err = n.Drained(w.Context(), w.service)
	var malformed *dynamolease.RowError
	if !errors.As(err, &malformed) || malformed.SK != "D#broken" || strings.Join(names, " ") != "A gone z" {
		w.Errorf("drained are %q, %v", names, err)
	}
	if names, err := n.Drained(w.Context(), "nobody"); err != nil || len(names) > 0 {
		w.Errorf("drained are %q, %v", names, err)
	}
	var argument *dynamolease.ArgumentError
	if _, err := n.Drained(w.Context(), ""); !errors.As(err, &argument) {
		w.Errorf("no service: %v", err)
	}
}

func drainRestart(w *world) {
	n := w.node()
	n.drain("A", true)
	n.drain("B", true)
	n.drain("B", false)
	time.Sleep(2 * retention)
	if report := n.reap(dynamolease.ReapConfig{}); report.Due != 1 || report.Deleted != 1 || report.Unreadable != 0 {
		w.Errorf("%+v", report)
	}
	n.holding("A", 1)
	if got := n.drained(); got != "A" {
		w.Errorf("drained are %q", got)
	}
}

func drainLate(w *world) {
	n := w.node()
	n.heartbeat("A", "host:1")
	deliver := make(chan struct{})
	n.Path.Next("UpdateItem", dynamotest.Late(deliver))
	n.Path.Next("UpdateItem", dynamotest.Late(deliver))
	n.drain("A", true)
	n.drain("A", false)
	close(deliver)
	n.Path.Close()
	if got := w.node().drained(); got != "" {
		w.Errorf("drained are %q", got)
	}
}

// Whoever drains a node again, because nothing told whether it was undrained, has the last word: also with another store.
func drainLateEnd(w *world) {
	n := w.node()
	n.heartbeat("A", "host:1")
	for _, on := range []bool{true, false} {
		late, deliver := w.node(), make(chan struct{})
		n.drain("A", on)
		late.Path.Every("UpdateItem", dynamotest.Late(deliver))
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		set := late.Drain
		if on {
			set = late.Undrain
		}
		if err := set(ctx, w.service, "A"); !errors.Is(err, dynamolease.ErrUnknownOutcome) {
			w.Errorf("drained: %v", err)
		}
		cancel()
		n.drain("A", on)
		close(deliver)
		late.Path.Close()
		if got := w.node().drained() == "A"; got != on {
			w.Errorf("drained: %v, want %v", got, on)
		}
	}
}

func drainLeases(w *world) {
	n, other := w.node(), w.node()
	lease := n.holding("A", 1)
	n.drain("A", true)
	n.beat()
	if lease.Remaining() == 0 || lease.Revoked() || len(other.owners()) != 1 {
		w.Errorf("%v left, owners %v", lease.Remaining(), other.owners())
	}
	if err := n.Leave(w.Context(), w.service, "A"); err != nil || len(other.members()) != 0 {
		w.Errorf("members are %v, %v", other.members(), err)
	}
}

// An order about a node that is not there goes, by the reaper or by the table's own deletion.
func drainOfNobody(w *world) {
	n := w.node()
	n.drain("A", true)
	if row := n.order("A"); numberOf(row["ttl"]) == "" {
		w.Fatalf("the order has no ttl: %v", row)
	}
	for range 29 {
		time.Sleep(24 * time.Hour)
		n.members() // of another: it does not keep the order
		n.reap(dynamolease.ReapConfig{})
	}
	if len(n.order("A")) == 0 {
		w.Error("it went too early")
	}
	time.Sleep(24*time.Hour + time.Minute)
	if report := n.reap(dynamolease.ReapConfig{}); report.Deleted != 1 || len(n.order("A")) > 0 {
		w.Errorf("it stays: %+v", report)
	}
}

// While the node of an order looks at the members, its order stays, at one write a day: for a session, for a member by
// heartbeats alone, and for an order of a former version, which has no ttl.
func drainStays(w *world) {
	for _, kind := range []string{"session", "heartbeats", "former version"} {
		n, other := w.node(), w.node()
		n.drain(kind, true)
		if kind == "former version" {
			row := n.order(kind)
			delete(row, "ttl")
			w.Put(row)
		}
		other.heartbeat("other", "host:2")
		before := writesOf(n, "D#"+kind)
		for range 40 * 3 {
			n.leaveQuietly() // a process does not live for ever
			if kind == "heartbeats" {
				n.heartbeat(kind, "host:1")
			} else {
				n.open(kind, 10*time.Minute)
			}
			if got := n.drained(); got != kind {
				w.Fatalf("drained are %q", got)
			}
			time.Sleep(8 * time.Hour)
		}
		n.Close()
		if writes := writesOf(n, "D#"+kind) - before; writes < 18 || writes > 41 {
			w.Errorf("%s: %d writes in 40 days", kind, writes)
		}
		if got := n.reap(dynamolease.ReapConfig{}); len(n.order(kind)) == 0 {
			w.Errorf("%s: it is gone: %+v", kind, got)
		}
		n.drain(kind, false)
	}
}

// leaveQuietly has a former session end, as with its process.
func (n *node) leaveQuietly() {
	if n.session != nil {
		_ = n.session.Close(n.w.Context())
	}
}

// writesOf counts the writes of a row.
func writesOf(n *node, sk string) (writes int) {
	for _, request := range n.Path.Requests() {
		if request.Op == "UpdateItem" && strings.Contains(string(request.Body), sk) {
			writes++
		}
	}
	return writes
}

func (n *node) order(name string) attributes { return n.w.Get(key("M#"+n.w.service, "D#"+name)) }

// Dating an order anew does not undo that it has ended, however late the request comes.
func drainRefreshLate(w *world) {
	for _, first := range []bool{true, false} {
		n, operator := w.node(), w.node()
		n.open("A", 48*time.Hour)
		n.drain("A", true)
		time.Sleep(25 * time.Hour)
		n.beat()
		deliver, between := make(chan struct{}), dynamotest.Around(func() { operator.drain("A", false) }, nil)
		if first {
			n.Path.Next("UpdateItem", dynamotest.All(dynamotest.LoseResponse(), dynamotest.Late(deliver)))
		} else {
			n.Path.Next("UpdateItem", between)
		}
		n.members()
		synctest.Wait()
		if first {
			operator.drain("A", false)
		}
		close(deliver)
		n.Close()
		n.Path.Close()
		if got := w.node().drained(); got != "" {
			w.Errorf("drained are %q", got)
		}
	}
}
