package dynamolease_test

import (
	"context"
	"errors"
	"strings"
	"testing"
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
