package coordinator_test

import (
	"strings"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// of has a node be of another service than the world's.
func of(service string) setting { return func(c *coordinator.Config) { c.Service = service } }

// tells reports whether log, State and Health of a node say that another service works its group.
func (n *node) tells(log *safeLog, service string) bool {
	health := n.Health()
	return n.State().Groups[0].OtherService == service && health != nil && strings.Contains(health.Error(), service) &&
		strings.Contains(log.String(), "another service works this group") && strings.Contains(log.String(), service)
}

// well reports whether a node has nothing to tell of other services.
func (n *node) well() bool { return n.State().Groups[0].OtherService == "" && n.Health() == nil }

// Two services call their group by one name. The one that comes second is told in its first round, and takes nothing for as long
// as the first has nodes: not when partitions are free, not when a node crashes. Then it has the group.
func TestSameGroupCO23(t *testing.T) {
	inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
		var log safeLog
		a, b := w.start("a", 8, inMode(mode)), w.start("b", 8, inMode(mode))
		w.settle(8, a, b)
		other := w.start("c", 12, inMode(mode), of("other-"+w.service), logging(&log))
		w.within(round, "told", func() bool { return other.tells(&log, w.service) })
		idle := func() bool { return len(w.works(other)) == 0 }
		w.always(5*round, "idle", idle)
		b.crash()
		w.always(ttl+grace+5*round, "idle", idle)
		if !w.balanced(8, a) || !a.well() {
			w.Errorf("the first service: %s, %v", w.summary(), a.Health())
		}
		a.stop()
		w.within(4*round, "worked by the other service", func() bool { return len(w.works(other)) == 12 })
		if !other.well() {
			w.Errorf("it still says %v", other.Health())
		}
		late := w.start("a", 8, inMode(mode), logging(&log))
		w.within(round, "told", func() bool { return late.tells(&log, "other-"+w.service) })
		w.always(3*round, "as it is", func() bool { return len(w.works(other)) == 12 && other.well() })
	})
}

// Two services that start at one moment: one has the group, and the other is told before it takes anything.
func TestSameGroupCO23Together(t *testing.T) {
	inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
		var nodes []*node
		for _, name := range []string{"a", "b", "c", "d"} {
			nodes = append(nodes, w.start(name, 8, inMode(mode), of(w.service+name[:1])))
		}
		w.within(3*round, "worked", func() bool { return w.busy() == 8 })
		told := 0
		for _, n := range nodes {
			if !n.well() {
				told++
			}
			if works := len(w.works(n)); works != 0 && works != 8 || works == 8 != n.well() {
				w.Errorf("%s works %d of 8, and says %v", n.name, works, n.Health())
			}
		}
		if told != 3 {
			w.Errorf("%d of 4 are told", told)
		}
	})
}

// A service whose nodes were all cut off comes back to a group that another one has taken: it is told, and takes nothing.
func TestSameGroupCO23CutOff(t *testing.T) {
	inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
		a := w.start("a", 4, inMode(mode))
		w.settle(4, a)
		heal := a.cut()
		other := w.start("b", 4, inMode(mode), of("other-"+w.service))
		w.within(ttl+grace+6*round, "taken over", func() bool { return len(w.works(other)) == 4 && other.well() })
		heal()
		w.within(6*round, "told", func() bool { return a.State().Groups[0].OtherService != "" && a.Health() != nil })
		w.always(5*round, "as it is", func() bool { return len(w.works(other)) == 4 && other.well() })
		time.Sleep(round)
	})
}
