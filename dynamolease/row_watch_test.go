package dynamolease_test

import (
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/elapsed"
)

// certain is for how long a session of the tests' ttl must stay as it is to be dead for sure.
const certain = ttl + ttl*2*200/(1_000_000-200) + 2*elapsed.Doubt // one clock 200 ppm slow, the other 200 ppm fast

// looksAtSessions are the calls that read the row of a session that holds partition 1.
var looksAtSessions = map[string]func(n *node){
	"acquiring": func(n *node) { n.refused(1, "b") },
	"members": func(n *node) {
		if members, err := n.Members(n.w.Context(), n.w.service); err != nil || len(members) != 1 {
			n.w.Errorf("members %v, %v", members, err)
		}
	},
	"owners": func(n *node) {
		if len(n.owners()) != 1 {
			n.w.Error("no owner")
		}
	},
}

// A store that knows nothing of the time for long sees a session dead by its own clock: once the row
// has stayed as it is for the ttl and what both clocks may drift, and not a moment sooner.
func TestWatchedSessionLS45(t *testing.T) {
	for name, look := range looksAtSessions {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a := w.node()
				b := w.node(func(o *dynamolease.Options) { o.Clock.Margin = time.Minute }) // never sure by the store's clock
				a.open("a", ttl)
				lease := a.take(1)
				look(b)
				time.Sleep(certain - time.Millisecond)
				b.refused(1, "b")
				if lease.Remaining() != 0 {
					w.Errorf("%v left", lease.Remaining())
				}
				time.Sleep(2 * time.Millisecond)
				if len(b.owners()) != 0 {
					w.Errorf("owners %+v", b.owners())
				}
				if next := b.acquire(1, "b"); next.Epoch != lease.Epoch+1 {
					w.Errorf("epoch %d after %d", next.Epoch, lease.Epoch)
				}
			})
		})
	}
}

// Each heartbeat begins the watch anew, also one whose expiry shows no difference.
func TestWatchBeginsAnewLS45(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, b := w.node(), w.node(func(o *dynamolease.Options) { o.Clock.Margin = time.Minute })
		a.open("a", ttl)
		a.take(1)
		for range 5 {
			b.refused(1, "b")
			time.Sleep(ttl / 2)
			a.beat()
		}
		b.refused(1, "b")
		time.Sleep(certain - time.Millisecond)
		b.refused(1, "b")
		time.Sleep(2 * time.Millisecond)
		b.acquire(1, "b")
	})
}

// A heartbeat that lands when a watcher is already certain keeps the session.
func TestWatchIsSettledByTheRevLS45(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a, b := w.node(), w.node(func(o *dynamolease.Options) { o.Clock.Margin = time.Minute })
		a.open("a", ttl)
		a.take(1)
		late := a.lateBeat() // its sender is over
		b.refused(1, "b")
		time.Sleep(certain + time.Second)
		late.deliver()
		b.refused(1, "b")
		b.refused(1, "b")
	})
}

// The watch counts from when the answer came: a heartbeat may have left what it shows while the reading was on its way.
func TestWatchCountsFromTheAnswerLS45(t *testing.T) {
	for name, look := range looksAtSessions {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, b := w.node(), w.node(func(o *dynamolease.Options) { o.Clock.Margin = time.Minute })
				a.open("a", ttl)
				lease := a.take(1)
				slow := dynamotest.Around(func() {
					time.Sleep(100 * time.Millisecond)
					a.beat()
				}, nil)
				gets, queries := b.Path.Every("GetItem", slow), b.Path.Every("Query", slow)
				look(b)
				gets()
				queries()
				time.Sleep(certain - time.Millisecond)
				b.refused(1, "b")
				if lease.Remaining() != 0 {
					w.Errorf("%v left", lease.Remaining())
				}
				time.Sleep(2 * time.Millisecond)
				b.acquire(1, "b")
			})
		})
	}
}
