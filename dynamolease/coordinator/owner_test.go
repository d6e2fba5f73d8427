package coordinator_test

import (
	"testing"
	"time"
)

// Owner says where a partition is worked, without a request.
func TestOwner(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a := w.start("a", 6)
		if _, _, ok := a.Owner(w.group, 0); ok {
			w.Error("an owner before anything was read")
		}
		b := w.start("b", 6)
		w.settle(6, a, b)
		time.Sleep(5 * round)
		for _, n := range []*node{a, b} {
			n.path.Reset()
			for partition := range 6 {
				owner, asOf, ok := n.Owner(w.group, partition)
				worker := w.worker(partition)
				if !ok || owner.Node != worker.name || owner.Address != worker.name+":1" || time.Since(asOf) > time.Minute {
					w.Errorf("%s says that %+v has %d as of %v (%v), it is %s", n.name, owner, partition, asOf, ok, worker.name)
				}
			}
			if n.path.Count("") != 0 {
				w.Errorf("%d requests", n.path.Count(""))
			}
			if _, _, ok := n.Owner(w.group, 6); ok {
				w.Error("a partition that there is not has an owner")
			}
			if _, _, ok := n.Owner("another", 0); ok {
				w.Error("a group that is not the node's has an owner")
			}
		}
		b.stop()
		w.within(ttl, "worked by a", func() bool { return w.balanced(6, a) })
		if owner, _, ok := a.Owner(w.group, 3); !ok || owner.Node != "a" {
			w.Errorf("%+v, %v", owner, ok)
		}
	})
}
