package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

func TestFaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(w *world, mode coordinator.LeaseMode){
		"CO10 one node cut off":               oneCutOff,
		"CO10 members unreadable":             membersUnreadable,
		"CO10 owners unreadable":              ownersUnreadable,
		"CO10 heartbeat retried soon":         heartbeatRetried,
		"CO2 releases fail":                   releasesFail,
		"CO11 stop before the first session":  stopBeforeSession,
		"CO11 stop during the join":           stopDuringJoin,
		"CO11 stop while acquiring":           stopWhileAcquiring,
		"CO11 stop during an outage":          stopDuringOutage,
		"CO11 stop after a loss":              stopAfterLoss,
		"CO11 session lost while stopping":    sessionLostWhileStopping,
		"CO7 no handler twice after trouble":  notTwice,
		"CO4 nobody starves after trouble":    noStarvation,
		"CO5 excluded":                        excluded,
		"CO5 unclaimed":                       unclaimedAreTaken,
		"CO3 restart under its name":          restart,
		"CO1 several groups":                  severalGroups,
		"CO1 leases taken by hand":            takenByHand,
		"CO10 suspended":                      suspended,
		"CO13 heartbeats fail, others do not": heartbeatsFail,
		"CO9 state under load":                stateUnderLoad,
	} {
		t.Run(name, func(t *testing.T) { inBothModes(t, test) })
	}
}

// One node of three is cut off: the others go on, and take over what it had.
func oneCutOff(w *world, mode coordinator.LeaseMode) {
	nodes := []*node{w.start("a", 9, inMode(mode)), w.start("b", 9, inMode(mode)), w.start("c", 9, inMode(mode))}
	w.settle(9, nodes...)
	began := time.Now()
	heal := nodes[0].path.Every("", dynamotest.Hang())
	w.within(ttl+grace+2*round, "taken over", func() bool { return w.balanced(9, nodes[1:]...) })
	for _, n := range nodes[1:] {
		for _, r := range w.all(n) {
			if r.ended.After(began) {
				w.Errorf("%s lost partition %d", n.name, r.lease.Partition)
			}
		}
	}
	heal()
	w.within(ttl+3*round, "back", func() bool { return w.balanced(9, nodes...) })
}

// Without the members nothing moves, and nothing is lost.
func membersUnreadable(w *world, mode coordinator.LeaseMode) {
	a, b := w.start("a", 6, inMode(mode)), w.start("b", 6, inMode(mode))
	w.settle(6, a, b)
	before := w.moves()
	heal := a.path.Every("Query", onRow("M#", dynamotest.ServerError(500)))
	w.always(5*ttl, "at work", func() bool { return w.balanced(6, a, b) })
	if w.moves() != before || a.State().LastError == nil {
		w.Errorf("%d moves, LastError %v", w.moves()-before, a.State().LastError)
	}
	heal()
	b.stop()
	w.within(ttl+2*round, "taken over", func() bool { return w.balanced(6, a) })
}

// Without the owners nothing moves either; when they can be read again the node takes what it
// lacks.
func ownersUnreadable(w *world, mode coordinator.LeaseMode) {
	a, b := w.start("a", 6, inMode(mode)), w.start("b", 6, inMode(mode))
	w.settle(6, a, b)
	heal := a.path.Every("Query", onRow("L#", dynamotest.ServerError(500)))
	b.stop()
	w.always(3*ttl, "at work", func() bool { return len(w.works(a)) == 3 && w.busy() == 3 })
	heal()
	w.within(10*time.Second+2*round, "taken over", func() bool { return w.balanced(6, a) })
}

// A heartbeat that fails is tried again long before the next round, and so are renewals.
func heartbeatRetried(w *world, mode coordinator.LeaseMode) {
	a := w.start("a", 3, inMode(mode))
	w.settle(3, a)
	op := "UpdateItem"
	if mode == coordinator.PerLease {
		op = "TransactWriteItems"
	}
	var mu sync.Mutex
	var times []time.Time
	a.path.Every(op, func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
		mu.Lock()
		times = append(times, time.Now())
		n := len(times)
		mu.Unlock()
		if n == 1 {
			return dynamotest.Reply(400, "UnrecognizedClientException", "no")(req, send)
		}
		return send(req)
	})
	time.Sleep(3 * round)
	mu.Lock()
	defer mu.Unlock()
	if len(times) < 2 || times[1].Sub(times[0]) > interval/5 {
		w.Errorf("tried at %v", times)
	}
	if w.moves() != 3 {
		w.Errorf("%d acquisitions", w.moves())
	}
}

// Releases fail for a while: the partitions are neither worked nor lost for ever, and move when
// releases succeed.
func releasesFail(w *world, mode coordinator.LeaseMode) {
	a := w.start("a", 6, inMode(mode))
	w.within(round, "worked", func() bool { return w.balanced(6, a) })
	heal := a.path.Every("UpdateItem", onRow("L#", dynamotest.ServerError(500)))
	b := w.start("b", 6, inMode(mode))
	time.Sleep(2 * ttl)
	if len(w.works(a)) != 3 || len(w.works(b)) != 0 {
		w.Errorf("running: %s", w.summary())
	}
	heal()
	w.within(ttl+2*round, "moved", func() bool { return w.balanced(6, a, b) })
}

// Run's context has ended before anything began.
func stopBeforeSession(w *world, mode coordinator.LeaseMode) {
	for range 8 { // what is due at once is chosen at random
		a := w.prepare("a", 3, inMode(mode))
		a.begin(ended())
		<-a.over
		if a.err != nil || w.moves() != 0 {
			w.Errorf("%v, %d acquisitions", a.err, w.moves())
		}
	}
}

// Run's context ends while the store does not answer the first request.
func stopDuringJoin(w *world, mode coordinator.LeaseMode) {
	for _, fault := range []dynamotest.Fault{dynamotest.Hang(), dynamotest.ServerError(503), dynamotest.LoseRequest()} {
		a := w.prepare("a", 3, inMode(mode))
		a.path.Every("", fault)
		a.begin(context.Background())
		time.Sleep(3 * ttl)
		began := time.Now()
		a.stop()
		if took := time.Since(began); took > tick || w.moves() != 0 {
			w.Errorf("stopped after %v, %d acquisitions", took, w.moves())
		}
	}
	a := w.prepare("a", 3, inMode(mode)) // and one for which the store comes back
	heal := a.path.Every("", dynamotest.Hang())
	a.begin(context.Background())
	time.Sleep(3 * ttl)
	heal()
	w.within(ttl+round, "worked", func() bool { return w.balanced(3, a) })
}

// A node with many leases stops while the store does not answer: it does so in bounded time.
func stopDuringOutage(w *world, mode coordinator.LeaseMode) {
	a := w.start("a", 200, inMode(mode))
	w.within(2*round, "worked", func() bool { return w.balanced(200, a) })
	a.path.Every("", dynamotest.Hang())
	began := time.Now()
	a.cancel()
	<-a.over
	if took := time.Since(began); took > 2*ttl+time.Second {
		w.Errorf("stopped after %v", took)
	}
	if w.busy() != 0 {
		w.Errorf("%d handlers run", w.busy())
	}
}

// A node stops while a handler that was told of a loss is about to return: Run waits for it.
func stopAfterLoss(w *world, mode coordinator.LeaseMode) {
	a := w.start("a", 2, inMode(mode), handling(func(ctx context.Context, _ coordinator.Assignment) error {
		<-ctx.Done()
		time.Sleep(ttl / 2)
		return nil
	}))
	w.settle(2, a)
	heal := a.path.Every("", dynamotest.Hang())
	w.within(ttl+tick, "told", func() bool {
		return !slices.ContainsFunc(w.all(a), func(r run) bool { return r.told.IsZero() })
	})
	heal()
	a.stop()
	if w.busy() != 0 {
		w.Errorf("Run has returned, and %d handlers run", w.busy())
	}
}

// A node could take nothing for some rounds, in which partitions were free; then it takes all,
// each once.
func notTwice(w *world, mode coordinator.LeaseMode) {
	a, b := w.start("a", 8, inMode(mode)), w.start("b", 8, inMode(mode))
	w.settle(8, a, b)
	heal := a.path.Every("UpdateItem", onRow("M#", dynamotest.Reply(400, "UnrecognizedClientException", "no")))
	if mode == coordinator.Sessions {
		time.Sleep(round)
	}
	b.stop()
	time.Sleep(ttl)
	heal()
	w.within(ttl+3*round, "all worked", func() bool { return w.balanced(8, a) })
	w.always(5*round, "all worked", func() bool { return w.balanced(8, a) })

	// A member that takes nothing: after some rounds the others take its part, and when it is gone
	// they have all, each once.
	c := w.prepare("c", 8, inMode(mode))
	c.path.Every("UpdateItem", onRow("L#", dynamotest.Reply(400, "UnrecognizedClientException", "no")))
	c.begin(context.Background())
	time.Sleep(3*round + round/2)
	c.stop()
	w.within(3*round, "all worked", func() bool { return w.balanced(8, a) })
	w.always(5*round, "all worked", func() bool { return w.balanced(8, a) })
}

// After an outage of heartbeats alone, in which all could see free partitions and take none,
// shares are fair at once.
func noStarvation(w *world, mode coordinator.LeaseMode) {
	var nodes []*node
	for i := range 3 {
		nodes = append(nodes, w.start(fmt.Sprint("n", i), 12, inMode(mode)))
	}
	w.settle(12, nodes...)
	var heal []func()
	for _, n := range nodes {
		heal = append(heal, n.path.Every("UpdateItem", dynamotest.Reply(400, "UnrecognizedClientException", "no")))
		heal = append(heal, n.path.Every("TransactWriteItems", dynamotest.Reply(400, "UnrecognizedClientException", "no")))
	}
	w.within(2*ttl, "lost", func() bool { return w.busy() == 0 })
	time.Sleep(ttl)
	for _, h := range heal {
		h()
	}
	w.within(3*round, "fair", func() bool { return w.balanced(12, nodes...) })
	nodes = append(nodes, w.start("n3", 12, inMode(mode)))
	w.within(2*round+tick, "fair", func() bool { return w.balanced(12, nodes...) })
}

// Excluded partitions are never taken, and worked by others.
func excluded(w *world, mode coordinator.LeaseMode) {
	exclude := grouped(func(g *coordinator.Group) { g.Exclude = []int{0, 1, 2} })
	a, b := w.start("a", 9, inMode(mode), exclude), w.start("b", 9, inMode(mode))
	w.settle(9, a, b)
	c := w.start("c", 9, inMode(mode), exclude)
	w.settle(9, a, b, c)
	before := w.moves()
	w.always(40*round, "in balance", func() bool { return w.balanced(9, a, b, c) })
	if w.moves() != before {
		w.Errorf("%d moves", w.moves()-before)
	}
	for _, n := range []*node{a, c} {
		for _, r := range w.all(n) {
			if r.lease.Partition < 3 {
				w.Errorf("%s worked partition %d", n.name, r.lease.Partition)
			}
		}
	}
}

// A member that takes no partitions does not keep others from working them for ever.
func unclaimedAreTaken(w *world, mode coordinator.LeaseMode) {
	a := w.start("a", 6, inMode(mode))
	w.settle(6, a)
	c := w.prepare("c", 6, inMode(mode))
	c.path.Every("UpdateItem", onRow("L#", dynamotest.ServerError(500)))
	c.begin(context.Background())
	w.within(2*round, "given up", func() bool { return w.busy() < 6 })
	w.within(5*round, "taken back", func() bool { return w.balanced(6, a) })
	time.Sleep(10 * round) // in which the others are given up in place of the first, and taken back
	w.always(15*round, "kept for a while", func() bool { return w.balanced(6, a) })
	worked := 0
	const rounds = 120
	for range rounds {
		time.Sleep(interval)
		worked += w.busy()
	}
	if worked < rounds*6*90/100 {
		w.Errorf("%d of %d partition rounds were worked", worked, rounds*6)
	}
}

// A node that crashed starts again under its name: its partitions are free when the former session
// has expired, and the others keep theirs.
func restart(w *world, mode coordinator.LeaseMode) {
	a, b := w.start("a", 6, inMode(mode)), w.start("b", 6, inMode(mode))
	w.settle(6, a, b)
	kept := fmt.Sprint(w.works(b))
	a.crash()
	time.Sleep(2 * time.Second)
	next := w.start("a", 6, inMode(mode))
	w.within(ttl+grace+2*round, "worked", func() bool { return w.balanced(6, next, b) })
	w.always(10*round, "worked", func() bool { return w.balanced(6, next, b) })
	if got := fmt.Sprint(w.works(b)); got != kept {
		w.Errorf("b had %s and has %s", kept, got)
	}
}

// Groups are balanced each among the nodes that list it, and one group's trouble is not the
// other's.
func severalGroups(w *world, mode coordinator.LeaseMode) {
	other := "mails-" + w.group
	both := func(c *coordinator.Config) {
		c.Groups = append(c.Groups, coordinator.Group{Name: other, Partitions: 5, Handler: wait})
	}
	a, b := w.start("a", 6, inMode(mode), both), w.start("b", 6, inMode(mode))
	w.within(4*round, "in balance", func() bool { return w.balanced6of11(a, b) })
	lost := a.path.Every("", onRow("L#mails-", dynamotest.Hang()))
	time.Sleep(4 * ttl)
	if len(w.works(a)) != 3 || len(w.works(b)) != 3 {
		w.Errorf("running: %s", w.summary())
	}
	for _, r := range w.all(a) {
		if r.lease.Group == w.group && errors.Is(r.cause, coordinator.ErrLost) {
			w.Errorf("partition %d was lost", r.lease.Partition)
		}
	}
	lost()
	w.within(2*ttl+2*round, "in balance", func() bool { return w.balanced6of11(a, b) })
}

// balanced6of11 reports whether two nodes share the world's group, and one of them works all of
// another.
func (w *world) balanced6of11(a, b *node) bool {
	return w.busy() == 11 && len(w.works(a)) == 3 && len(w.works(b)) == 3
}

// Somebody frees a lease by force and takes it: the handler is told when the owners are read next.
func takenByHand(w *world, mode coordinator.LeaseMode) {
	a := w.start("a", 2, inMode(mode))
	w.settle(2, a)
	w.lenient = true
	w.deleteRow(0)
	look := w.look()
	if _, acquired, err := look.Acquire(w.Context(), w.group, 0, "by hand", 40*ttl); !acquired || err != nil {
		w.Fatal(err)
	}
	w.within(31*round, "told", func() bool { return w.worker(0) == nil })
	if r := w.history(0)[0]; !errors.Is(r.cause, coordinator.ErrLost) || r.lease.Remaining() != 0 {
		w.Errorf("%v, %v left", r.cause, r.lease.Remaining())
	}
	w.within(40*ttl+grace+round, "worked again", func() bool { return w.worker(0) == a })
}

// A node is suspended and wakes: it has nothing left at once, while others took over, and it works
// again later.
func suspended(w *world, mode coordinator.LeaseMode) {
	a, b := w.start("a", 4, inMode(mode)), w.start("b", 4, inMode(mode))
	w.settle(4, a, b)
	// Nothing of it runs meanwhile: its requests go nowhere, and its handlers do nothing.
	door := dynamotest.NewDoor()
	stop := a.path.Every("", door.Hold)
	w.bury(a)
	w.within(ttl+grace+2*round, "taken over", func() bool { return w.balanced(4, b) })
	a.wake(2 * ttl)
	for _, r := range w.all(a) {
		if r.lease.Remaining() != 0 {
			w.Errorf("partition %d has %v left", r.lease.Partition, r.lease.Remaining())
		}
	}
	a.revive()
	stop()
	door.Release()
	w.within(2*ttl+3*round, "in balance", func() bool { return w.balanced(4, a, b) })
}

// Heartbeats fail and all else works. Leases in the session end with it; those with an expiry of
// their own go on.
func heartbeatsFail(w *world, mode coordinator.LeaseMode) {
	a := w.start("a", 4, inMode(mode))
	w.settle(4, a)
	heal := a.path.Every("UpdateItem", onRow("M#", dynamotest.ServerError(500)))
	time.Sleep(5 * ttl)
	if want := map[coordinator.LeaseMode]int{coordinator.Sessions: 0, coordinator.PerLease: 4}[mode]; w.busy() != want {
		w.Errorf("%d handlers run, want %d", w.busy(), want)
	}
	if a.State().Alive {
		w.Error("it says that it is alive")
	}
	heal()
	w.within(ttl+2*round, "at work", func() bool { return w.balanced(4, a) })
}

// State may be called at any time.
func stateUnderLoad(w *world, mode coordinator.LeaseMode) {
	a := w.prepare("a", 20, inMode(mode))
	if s := a.State(); s.Session != "" || s.Rounds != 0 || s.Alive || s.LastError != nil || len(s.Groups) != 1 {
		w.Errorf("before the start: %+v", s)
	}
	done := make(chan struct{})
	var calls atomic.Int32
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for {
				select {
				case <-done:
					return
				case <-time.After(tick):
					s := a.State()
					calls.Add(1)
					if n := len(s.Groups[0].Leases); n > 20 || s.Groups[0].HandingOff > n {
						w.Errorf("state %+v", s)
					}
				}
			}
		})
	}
	a.begin(context.Background())
	b := w.start("b", 20, inMode(mode))
	w.settle(20, a, b)
	b.stop()
	w.within(2*round, "taken over", func() bool { return w.balanced(20, a) })
	a.stop()
	close(done)
	running.Wait()
	if s := a.State(); calls.Load() == 0 || s.Remaining != 0 || len(s.Groups[0].Leases) != 0 {
		w.Errorf("after the end: %+v", s)
	}
}
