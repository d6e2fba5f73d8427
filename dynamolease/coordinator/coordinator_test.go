package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

func TestCoordinator(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(w *world, mode coordinator.LeaseMode){
		"CO1":      join,
		"CO2":      leave,
		"CO3":      crash,
		"CO4":      idle,
		"CO5":      quiet,
		"CO6":      manyAtOnce,
		"CO7":      handOverOf,
		"CO8":      stubborn,
		"CO8 stop": stubbornAtTheEnd,
		"CO9":      slowAndPanicking,
		"CO11":     shutdown,
		"CO13":     noHeartbeat,
		"CO14":     replaced,
		"LS42":     orphans,
	} {
		t.Run(name, func(t *testing.T) { inBothModes(t, test) })
	}
}

// One node, then two, then three: as few partitions move as can be, and shares add up.
func join(w *world, mode coordinator.LeaseMode) {
	const partitions = 10
	var nodes []*node
	var kept []int
	for i := range 4 {
		nodes = append(nodes, w.start(fmt.Sprint("n", i), partitions, inMode(mode)))
		kept = append(kept, 0)
		want := fewest(partitions, kept)
		before := w.moves()
		w.settle(partitions, nodes...)
		if got := w.moves() - before; got != want {
			w.Errorf("%d nodes: %d moves, %d would do", i+1, got, want)
		}
		kept = w.shares(nodes...)
	}
	state := nodes[0].State()
	if len(state.Members) != 4 || len(state.Groups[0].Nodes) != 4 || len(state.Groups[0].Leases) != state.Groups[0].Share || !state.Alive || state.Remaining == 0 {
		w.Errorf("state %+v", state)
	}
}

// A node that stops gracefully is followed by others within a round.
func leave(w *world, mode coordinator.LeaseMode) {
	nodes := []*node{w.start("a", 9, inMode(mode)), w.start("b", 9, inMode(mode)), w.start("c", 9, inMode(mode))}
	w.settle(9, nodes...)
	began := time.Now()
	nodes[0].stop()
	w.within(round-time.Since(began)+tick, "taken over", func() bool { return w.balanced(9, nodes[1:]...) })
	if members, err := w.look().Members(w.Context(), w.service); err != nil || len(members) != 2 {
		w.Errorf("members %v, %v", members, err)
	}
}

// A node that crashes is followed within a ttl, and a round more. The ttl is counted as the library
// promises it: a lease is free when every other node can be certain that it has expired.
func crash(w *world, mode coordinator.LeaseMode) {
	nodes := []*node{w.start("a", 9, inMode(mode)), w.start("b", 9, inMode(mode)), w.start("c", 9, inMode(mode))}
	w.settle(9, nodes...)
	before := w.moves()
	dead, heirs := nodes[0], nodes[1:]
	dead.crash()
	expiry := w.expiryOf(dead)
	w.within(ttl+certainty, "certainly over", func() bool { return certainlyPast(expiry, heirs...) })
	w.within(round+tick, "taken over", func() bool { return w.balanced(9, heirs...) })
	w.always(5*round, "in balance", func() bool { return w.balanced(9, heirs...) })
	if got := w.moves() - before; got != 3 {
		w.Errorf("%d moves after a crash of a node with 3 partitions", got)
	}
}

// certainty is how much later than a ttl a node is certain at the latest that a lease has expired,
// by what it and the lease's holder know of the store's clock.
const certainty = 2 * time.Second

// expiryOf returns when the last lease of a node expires, and the node as a member, by the store's
// clock.
func (w *world) expiryOf(n *node) (latest time.Time) {
	w.Helper()
	look := w.look()
	leases, err := look.Owners(context.Background(), w.group)
	members, err2 := look.Members(context.Background(), w.service)
	if err != nil || err2 != nil {
		w.Fatal(err, err2)
	}
	for _, lease := range leases {
		if lease.Node() == n.name && lease.ExpiresAt.After(latest) {
			latest = lease.ExpiresAt
		}
	}
	for _, m := range members {
		if m.Node == n.name && m.ExpiresAt.After(latest) {
			latest = m.ExpiresAt
		}
	}
	return latest
}

// certainlyPast reports whether a moment of the store's clock is past by all that each node knows.
func certainlyPast(moment time.Time, nodes ...*node) bool {
	return !slices.ContainsFunc(nodes, func(n *node) bool {
		earliest, _, ok := n.store.Now()
		return !ok || earliest.Before(moment)
	})
}

// Two partitions among four nodes: two are idle, and take over.
func idle(w *world, mode coordinator.LeaseMode) {
	var nodes []*node
	for i := range 4 {
		nodes = append(nodes, w.start(fmt.Sprint("n", i), 2, inMode(mode)))
	}
	w.within(3*round, "worked", func() bool { return w.busy() == 2 })
	time.Sleep(3 * round)
	for len(nodes) > 0 {
		var at int
		for i, n := range nodes {
			if len(w.works(n)) > 0 {
				at = i
			}
		}
		nodes[at].stop()
		nodes = append(nodes[:at], nodes[at+1:]...)
		if want := min(2, len(nodes)); len(nodes) > 0 {
			w.within(2*round, "worked again", func() bool { return w.busy() == 2 })
			for _, n := range nodes {
				if len(nodes) <= 2 && len(w.works(n)) != 2/want {
					w.Errorf("%d nodes: %s", len(nodes), w.summary())
				}
			}
		}
	}
}

// In balance, nothing moves in 100 rounds.
func quiet(w *world, mode coordinator.LeaseMode) {
	nodes := []*node{w.start("a", 10, inMode(mode)), w.start("b", 10, inMode(mode)), w.start("c", 10, inMode(mode))}
	w.settle(10, nodes...)
	before := w.moves()
	for range 100 {
		time.Sleep(interval)
		if w.busy() != 10 {
			w.Fatalf("running: %s", w.summary())
		}
	}
	if got := w.moves() - before; got != 0 {
		w.Errorf("%d moves", got)
	}
}

// 200 free partitions are taken at once.
func manyAtOnce(w *world, mode coordinator.LeaseMode) {
	n := w.start("a", 200, inMode(mode))
	w.within(2*round, "all owned", func() bool { return w.balanced(200, n) })
}

// A hand-over waits for the handler, however long it takes within the drain timeout, and its lease
// is kept meanwhile.
func handOverOf(w *world, mode coordinator.LeaseMode) {
	slowly := handling(func(ctx context.Context, lease coordinator.Assignment) error {
		<-ctx.Done()
		time.Sleep(3 * ttl)
		if lease.Remaining() == 0 {
			w.Errorf("the lease of partition %d ran out while it was handed over", lease.Partition)
		}
		return nil
	})
	long := grouped(func(g *coordinator.Group) { g.DrainTimeout = 4 * ttl })
	a := w.start("a", 4, inMode(mode), slowly, long)
	w.within(round, "worked", func() bool { return w.balanced(4, a) })
	b := w.start("b", 4, inMode(mode))
	w.within(2*round, "revoked", func() bool { return a.State().Groups[0].HandingOff == 2 })
	w.always(2*ttl, "waiting", func() bool { return w.busy() == 4 && len(w.works(b)) == 0 })
	w.within(ttl+2*round, "handed over", func() bool { return w.balanced(4, a, b) })
	revoked := 0
	for _, r := range w.all(a) {
		if !r.ended.IsZero() {
			revoked++
			if !errors.Is(r.cause, coordinator.ErrRevoked) || r.ended.Sub(r.told) < 3*ttl {
				w.Errorf("partition %d: %v, returned %v after it was told", r.lease.Partition, r.cause, r.ended.Sub(r.told))
			}
		}
	}
	if revoked != 2 {
		w.Errorf("%d handlers were told", revoked)
	}
}

// A handler that ignores the end of its context holds up its own partition for the drain timeout,
// and no other.
func stubborn(w *world, mode coordinator.LeaseMode) {
	const drain = 2 * ttl
	w.lenient = true
	let := make(chan struct{})
	defer close(let)
	ignore := handling(func(ctx context.Context, lease coordinator.Assignment) error {
		<-ctx.Done()
		if lease.Partition%2 == 0 {
			<-let
		}
		return nil
	})
	a := w.start("a", 8, inMode(mode), ignore, grouped(func(g *coordinator.Group) { g.DrainTimeout = drain }))
	w.within(round, "worked", func() bool { return w.balanced(8, a) })
	began := time.Now()
	b := w.start("b", 8, inMode(mode))
	w.within(2*round, "revoked", func() bool { return a.State().Groups[0].HandingOff > 0 || len(w.works(b)) > 0 })
	w.within(2*round, "handed over", func() bool {
		for _, r := range w.all(a) {
			if !r.told.IsZero() && r.lease.Partition%2 == 1 && w.worker(r.lease.Partition) != b {
				return false
			}
		}
		return true
	})
	for _, r := range w.all(b) {
		if r.lease.Partition%2 == 0 && r.began.Sub(began) < drain {
			w.Errorf("partition %d was taken while its handler ran", r.lease.Partition)
		}
	}
	w.within(drain+2*round, "handed over", func() bool { return len(w.works(b)) == 4 })
	for _, r := range w.all(a) {
		next := w.history(r.lease.Partition)
		if r.lease.Partition%2 == 0 && !r.told.IsZero() && next[len(next)-1].began.Sub(r.told) < drain {
			w.Errorf("partition %d changed hands %v after it was revoked", r.lease.Partition, next[len(next)-1].began.Sub(r.told))
		}
	}
}

// worker returns the node that works a partition.
func (w *world) worker(partition int) *node {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r := w.active[place{w.group, partition}]; r != nil {
		return r.node
	}
	return nil
}

// A node stops while one of its handlers ignores that: Run returns after the drain timeout, and
// the lease is free.
func stubbornAtTheEnd(w *world, mode coordinator.LeaseMode) {
	w.lenient = true
	let := make(chan struct{})
	a := w.start("a", 4, inMode(mode), handling(func(ctx context.Context, lease coordinator.Assignment) error {
		<-ctx.Done()
		if lease.Partition == 2 {
			<-let
		}
		return nil
	}))
	w.within(round, "worked", func() bool { return w.balanced(4, a) })
	began := time.Now()
	a.stop()
	if took := time.Since(began); took < ttl || took > ttl+time.Second {
		w.Errorf("Run returned after %v, the drain timeout is %v", took, ttl)
	}
	if owners, err := w.look().Owners(w.Context(), w.group); err != nil || len(owners) != 0 {
		w.Errorf("owners %v, %v", owners, err)
	}
	close(let)
}

// Handlers that block, panic, fail or return early cost no renewal, and no other handler anything.
func slowAndPanicking(w *world, mode coordinator.LeaseMode) {
	var calls [4]atomic.Int32
	a := w.start("a", 4, inMode(mode), handling(func(ctx context.Context, lease coordinator.Assignment) error {
		switch calls[lease.Partition].Add(1); lease.Partition {
		case 0:
			time.Sleep(10 * ttl) // whatever its context says
			<-ctx.Done()
			return nil
		case 1:
			panic("one")
		case 2:
			return errors.New("two")
		default:
			return nil // done early
		}
	}))
	w.within(round, "started", func() bool { return calls[3].Load() == 1 })
	epochs := fmt.Sprint(epochsOf(a))
	time.Sleep(10 * ttl)
	if got := fmt.Sprint(epochsOf(a)); got != epochs || !a.State().Alive {
		w.Errorf("epochs %s, and then %s", epochs, got)
	}
	if calls[0].Load() != 1 || calls[3].Load() != 1 {
		w.Errorf("calls of a handler that blocks and of one that is done: %d, %d", calls[0].Load(), calls[3].Load())
	}
	// After 1, 2, 4, ... 60 seconds: 6 calls in the first 31 seconds, 7 in 63, no more in 90.
	if calls[1].Load() != 7 || calls[2].Load() != 7 {
		w.Errorf("calls of a handler that panics and of one that fails: %d, %d", calls[1].Load(), calls[2].Load())
	}
	if err := a.State().LastError; err == nil || !strings.Contains(err.Error(), "one") && !strings.Contains(err.Error(), "two") {
		w.Errorf("LastError %v", err)
	}
	b := w.start("b", 4, inMode(mode))
	w.within(ttl+3*round, "handed over", func() bool { return len(w.works(b)) == 2 })
}

func epochsOf(n *node) map[int]int64 {
	epochs := make(map[int]int64)
	for _, lease := range n.State().Groups[0].Leases {
		epochs[lease.Partition] = lease.Epoch
	}
	return epochs
}

// A node whose heartbeats fail keeps what it has as long as it lasts, and takes nothing more.
func noHeartbeat(w *world, mode coordinator.LeaseMode) {
	a := w.start("a", 8, inMode(mode))
	b := w.start("b", 8, inMode(mode))
	w.settle(8, a, b)
	heal := a.path.Every("UpdateItem", onRow("M#", dynamotest.Reply(400, "UnrecognizedClientException", "no")))
	w.within(2*round, "failing", func() bool { return !a.State().Alive })
	b.stop()
	before := w.moves()
	w.always(ttl-3*interval+interval/2, "alone", func() bool { return w.moves() == before })
	w.always(3*ttl, "taking nothing", func() bool { return w.moves() == before })
	heal()
	w.within(2*round, "back", func() bool { return w.balanced(8, a) })
}

// onRow has a fault happen to requests on rows whose key begins so, and to no others.
func onRow(prefix string, fault dynamotest.Fault) dynamotest.Fault {
	return func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
		if strings.Contains(bodyOf(req), `"S":"`+prefix) {
			return fault(req, send)
		}
		return send(req)
	}
}

// A process that joins under the name of another takes over from it: the older one hands over,
// stops and says so.
func replaced(w *world, mode coordinator.LeaseMode) {
	former := w.start("a", 6, inMode(mode))
	other := w.start("b", 6, inMode(mode))
	w.settle(6, former, other)
	began := time.Now()
	next := w.start("a", 6, inMode(mode))
	w.within(round, "replaced", func() bool {
		select {
		case <-former.over:
			return true
		default:
			return false
		}
	})
	if !errors.Is(former.err, coordinator.ErrReplaced) {
		w.Errorf("the older one says %v", former.err)
	}
	w.within(2*round, "taken over", func() bool { return w.balanced(6, next, other) })
	members, err := w.look().Members(w.Context(), w.service)
	if err != nil || len(members) != 2 || members[0].Session != next.State().Session {
		w.Errorf("members %+v, %v", members, err)
	}
	for _, r := range w.all(former) {
		if r.ended.After(began) && !errors.Is(r.cause, coordinator.ErrShutdown) {
			w.Errorf("partition %d of the older one: %v", r.lease.Partition, r.cause)
		}
	}
	w.always(5*round, "in balance", func() bool { return w.balanced(6, next, other) })
}

// A lease whose acquisition was never answered is worked, or free for others, within ten rounds.
func orphans(w *world, mode coordinator.LeaseMode) {
	a := w.prepare("a", 3, inMode(mode))
	// Writes of leases are applied and never answered, for a while; nor can the store find out and
	// free them.
	var hanging, written atomic.Bool
	hanging.Store(true)
	a.path.Every("UpdateItem", onRow("L#", func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
		if hanging.Load() {
			written.Store(true)
			return dynamotest.LoseResponse()(req, send)
		}
		return send(req)
	}))
	a.path.Every("GetItem", onRow("L#", func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
		if hanging.Load() && written.Load() {
			return dynamotest.LoseRequest()(req, send)
		}
		return send(req)
	}))
	a.begin(context.Background())
	time.Sleep(2 * ttl)
	if !written.Load() {
		w.Error("no lease was acquired without an answer")
	}
	hanging.Store(false)
	w.within(10*round, "worked", func() bool { return w.balanced(3, a) })
	if owners, err := w.look().Owners(w.Context(), w.group); err != nil || len(owners) != 3 {
		w.Errorf("owners %v, %v", owners, err)
	}
}

// The store is away: contexts end when leases do, to the tick, with no call returning. Afterwards
// all goes on.
func TestCoordinatorCO10(t *testing.T) {
	t.Parallel()
	faults := map[string]dynamotest.Fault{
		"hang": dynamotest.Hang(), "no answer": dynamotest.HangAfter(), "503": dynamotest.ServerError(503),
		"reset": dynamotest.LoseRequest(), "throttled": dynamotest.Throttle(),
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			inBothModes(t, func(w *world, mode coordinator.LeaseMode) { w.outage(fault, mode, name != "no answer") })
		})
	}
}

func (w *world) outage(fault dynamotest.Fault, mode coordinator.LeaseMode, exact bool) {
	a := w.start("a", 5, inMode(mode))
	b := w.start("b", 5, inMode(mode))
	w.settle(5, a, b)
	var heal []func()
	deadlines := make(map[place]time.Time)
	for _, n := range []*node{a, b} {
		heal = append(heal, n.path.Every("", fault))
	}
	time.Sleep(tick) // what was on its way has arrived
	w.mu.Lock()
	for at, r := range w.active {
		deadlines[at] = time.Now().Add(r.lease.Remaining())
	}
	w.mu.Unlock()
	before := w.moves()
	time.Sleep(5 * time.Minute)
	if w.busy() != 0 {
		w.Fatalf("running after the leases ended: %s", w.summary())
	}
	for at, deadline := range deadlines {
		runs := w.history(at.partition)
		last := runs[len(runs)-1]
		if !errors.Is(last.cause, coordinator.ErrLost) {
			w.Errorf("partition %d: %v", at.partition, last.cause)
		}
		if off := last.told.Sub(deadline); off > tick || exact && off < -tick {
			w.Errorf("partition %d: told %v after its deadline", at.partition, off)
		}
	}
	if w.moves() != before {
		w.Error("something was acquired")
	}
	for _, h := range heal {
		h()
	}
	w.within(ttl/2+3*round, "at work again", func() bool { return w.balanced(5, a, b) })
	for _, n := range []*node{a, b} {
		if s := n.State(); !s.Alive || s.LastError == nil {
			w.Errorf("state %+v", s)
		}
	}
}
