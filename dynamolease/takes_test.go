package dynamolease_test

import (
	"reflect"
	"testing"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// Members show what nodes take, by a heartbeat of their own and by a session, and nothing of nodes that
// do not say it, such as those of an earlier version. It stays with each heartbeat.
func TestMembersTakesCO23(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		takes := map[string]dynamolease.Takes{"orders": {Partitions: 12, Except: [][2]int{{0, 3}, {7, 7}}}, "bills": {Partitions: 5}}
		of := func(name string, takes map[string]dynamolease.Takes) dynamolease.Node {
			return dynamolease.Node{Service: w.service, Name: name, Address: name + ":1", Groups: []string{"orders", "bills", "third"}, Takes: takes}
		}
		n := w.node()
		beat, err := n.Heartbeat(w.Context(), of("a", takes), ttl)
		if err != nil || !reflect.DeepEqual(beat.Takes, takes) {
			w.Errorf("%+v, %v", beat, err)
		}
		session, err := n.OpenSession(w.Context(), of("b", takes), ttl)
		if err != nil {
			w.Fatal(err)
		}
		if _, err := n.OpenSession(w.Context(), of("c", nil), ttl); err != nil {
			w.Fatal(err)
		}
		for range 3 {
			members := w.node().members()
			if len(members) != 3 {
				w.Fatalf("%+v", members)
			}
			for i, want := range []map[string]dynamolease.Takes{takes, takes, nil} {
				if !reflect.DeepEqual(members[i].Takes, want) {
					w.Errorf("%s takes %v", members[i].Node, members[i].Takes)
				}
			}
			if _, err := session.Heartbeat(w.Context()); err != nil {
				w.Error(err)
			}
		}
		if _, err := n.Heartbeat(w.Context(), of("a", nil), ttl); err != nil || w.node().members()[0].Takes != nil {
			w.Errorf("a later heartbeat replaces it: %v", err)
		}
	})
}
