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

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// Faults that users of other lease libraries met.
func TestCases(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(w *world, mode coordinator.LeaseMode){
		"C09": releasedInBetween,
		"C14": cutOff,
		"C15": expiredInBalance,
		"C23": hungCalls,
		"C25": frozen,
		"C28": eachErrorOnce,
		"C29": stopDuringRenewal,
		"C32": stopWhileWaiting,
		"C33": stopAfterTheWrite,
		"C35": stopEndsAll,
		"C38": paired,
		"C41": handOverFromEveryState,
		"C42": drainedByOperator,
		"C43": noGapAtTheEnd,
		"C44": manyAtOnce,
		"C46": budget,
		"C48": drainFirst,
		"C51": blockedHandler,
		"C54": unclassified,
	} {
		t.Run(name, func(t *testing.T) { inBothModes(t, test) })
	}
	t.Run("C50", func(t *testing.T) {
		for _, c := range []struct {
			interval time.Duration
			bad      bool
		}{{ttl / 2, true}, {ttl/2 - 1, false}, {ttl, true}, {2 * ttl, true}, {ttl / 3, false}} {
			_, err := coordinator.New(refusing(t), coordinator.Config{
				Service: "s", Node: "n", Address: "a", TTL: ttl, Interval: c.interval,
				Groups: []coordinator.Group{{Name: "g", Partitions: 1, Handler: wait}},
			})
			if isArgument(err, "Config.Interval") != c.bad || !c.bad && err != nil {
				t.Errorf("interval %v of ttl %v: %v", c.interval, ttl, err)
			}
		}
	})
}

// once is a fault of the first request on a row whose key begins so.
func once(prefix string, fault dynamotest.Fault) dynamotest.Fault {
	var did atomic.Bool
	return onRow(prefix, func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
		if did.Swap(true) {
			return send(req)
		}
		return fault(req, send)
	})
}

// A waiting node is refused, and the partition is free by then: the node gets it at once, with no
// error.
func releasedInBetween(w *world, mode coordinator.LeaseMode) {
	a := w.start("a", 1, inMode(mode))
	w.within(round, "worked", func() bool { return w.balanced(1, a) })
	b := w.start("b", 1, inMode(mode))
	time.Sleep(2 * round)
	look := w.look()
	var meddled atomic.Bool
	b.path.Every("UpdateItem", once("L#", dynamotest.Around(func() {
		_, acquired, err := look.Acquire(context.Background(), w.group, 0, "another", ttl)
		released, err2 := look.Release(context.Background(), w.group, 0, "another")
		meddled.Store(acquired && released && err == nil && err2 == nil)
	}, nil)))
	a.stop()
	w.within(round, "taken over", func() bool { return w.balanced(1, b) })
	if !meddled.Load() || b.State().LastError != nil {
		w.Errorf("meddled %v, %v", meddled.Load(), b.State().LastError)
	}
}

// A node whose requests hang is followed after its ttl, and knows by itself, before.
func cutOff(w *world, mode coordinator.LeaseMode) {
	a := w.start("a", 2, inMode(mode))
	w.within(round, "worked", func() bool { return w.balanced(2, a) })
	a.path.Every("", dynamotest.Hang())
	deadline := time.Now().Add(ttl)
	b := w.start("b", 2, inMode(mode))
	w.within(ttl+grace+round, "followed", func() bool { return w.balanced(2, b) })
	for _, r := range w.all(a) {
		if r.told.After(deadline) || !errors.Is(r.cause, coordinator.ErrLost) {
			w.Errorf("partition %d: %v, %v after its deadline", r.lease.Partition, r.cause, r.told.Sub(deadline))
		}
	}
}

// What expires is taken although all others have as much as they should.
func expiredInBalance(w *world, mode coordinator.LeaseMode) {
	var nodes []*node
	for i := range 4 {
		nodes = append(nodes, w.start(fmt.Sprint("n", i), 10, inMode(mode)))
	}
	w.settle(10, nodes...)
	nodes[3].crash()
	w.within(ttl+grace+round, "taken over", func() bool { return w.balanced(10, nodes[:3]...) })
}

// With every call hanging, contexts end at the deadline.
func hungCalls(w *world, mode coordinator.LeaseMode) {
	a := w.start("a", 3, inMode(mode))
	w.settle(3, a)
	a.path.Every("", dynamotest.Hang())
	runs := w.all(a)
	began := time.Now()
	left := runs[0].lease.Remaining()
	w.within(ttl+tick, "lost", func() bool { return w.busy() == 0 })
	for _, r := range w.all(a) {
		if off := r.told.Sub(began.Add(left)); off < -tick || off > tick || !errors.Is(r.cause, coordinator.ErrLost) {
			w.Errorf("partition %d: %v, %v after its deadline", r.lease.Partition, r.cause, off)
		}
	}
}

// A node that was suspended for longer than its ttl has nothing left when it wakes, and is told
// once.
func frozen(w *world, mode coordinator.LeaseMode) {
	a := w.start("a", 3, inMode(mode))
	w.settle(3, a)
	a.wake(5 * ttl)
	for _, r := range w.all(a) {
		if r.lease.Remaining() != 0 {
			w.Errorf("partition %d has %v left", r.lease.Partition, r.lease.Remaining())
		}
	}
	// They may be acquired again at the same instant, so that there is never none at work.
	w.within(ttl, "told", func() bool {
		return !slices.ContainsFunc(w.all(a)[:3], func(r run) bool { return r.ended.IsZero() })
	})
	for _, r := range w.all(a)[:3] {
		if !errors.Is(r.cause, coordinator.ErrLost) {
			w.Errorf("partition %d: %v", r.lease.Partition, r.cause)
		}
	}
	w.within(ttl+grace+3*round, "at work again", func() bool { return w.balanced(3, a) })
	if n := len(w.all(a)); n != 6 {
		w.Errorf("%d calls of handlers", n)
	}
}

// No error ends the loops: after each, the next round goes on as if nothing had been.
func eachErrorOnce(w *world, mode coordinator.LeaseMode) {
	a := w.start("a", 3, inMode(mode))
	w.settle(3, a)
	epochs := fmt.Sprint(epochsOf(a))
	for name, fault := range map[string]dynamotest.Fault{
		"500": dynamotest.ServerError(500), "503": dynamotest.ServerError(503), "throttle": dynamotest.Throttle(),
		"reset": dynamotest.LoseRequest(), "lost answer": dynamotest.LoseResponse(), "denied": dynamotest.AccessDenied(),
		"conflict": dynamotest.Conflict(), "invalid": dynamotest.Reply(400, "ValidationException", "no"),
		"unheard of": dynamotest.Reply(418, "TeapotException", "no"), "hang": dynamotest.Hang(),
	} {
		for _, op := range []string{"UpdateItem", "TransactWriteItems", "Query"} {
			a.path.Next(op, fault)
		}
		time.Sleep(3 * round)
		if got := fmt.Sprint(epochsOf(a)); got != epochs || !a.State().Alive || len(a.State().Members) != 1 {
			w.Fatalf("after %s: epochs %s, before %s; %+v", name, got, epochs, a.State())
		}
	}
	if w.moves() != 3 {
		w.Errorf("%d acquisitions", w.moves())
	}
}

// A renewal is on its way when the node stops: nothing comes back to life.
func stopDuringRenewal(w *world, mode coordinator.LeaseMode) {
	a := w.start("a", 3, inMode(mode))
	w.settle(3, a)
	for _, op := range []string{"UpdateItem", "TransactWriteItems"} {
		a.path.Next(op, dynamotest.Delay(time.Second))
		a.path.Next(op, dynamotest.Delay(time.Second))
	}
	before := a.path.Count("")
	w.within(2*round, "renewing", func() bool { return a.path.Count("") > before })
	a.stop()
	look := w.look()
	for range 3 {
		owners, err := look.Owners(w.Context(), w.group)
		members, err2 := look.Members(w.Context(), w.service)
		if err != nil || err2 != nil || len(owners) != 0 || len(members) != 0 {
			w.Fatalf("owners %v, %v; members %v, %v", owners, err, members, err2)
		}
		time.Sleep(ttl)
	}
}

// A node stops while an acquisition of another partition hangs: it stops promptly, and what it has
// stays good until released.
func stopWhileWaiting(w *world, mode coordinator.LeaseMode) {
	a := w.prepare("a", 2, inMode(mode), func(c *coordinator.Config) {
		c.Groups = append(c.Groups, coordinator.Group{Name: "slow-" + w.group, Partitions: 2, Handler: wait})
		c.Groups[0].Handler = func(ctx context.Context, lease coordinator.Assignment) error {
			<-ctx.Done()
			if lease.Remaining() == 0 {
				w.Error("the lease was lost")
			}
			return nil
		}
	})
	a.path.Every("GetItem", onRow("L#slow-", dynamotest.Hang()))
	a.begin(context.Background())
	w.within(round, "worked", func() bool { return len(w.works(a)) == 2 })
	began := time.Now()
	a.stop()
	if took := time.Since(began); took > time.Second {
		w.Errorf("stopped after %v", took)
	}
	if owners, err := w.look().Owners(w.Context(), w.group); err != nil || len(owners) != 0 {
		w.Errorf("owners %v, %v", owners, err)
	}
}

// A node stops when its acquisitions are written and not answered: they are free for others at
// once.
func stopAfterTheWrite(w *world, mode coordinator.LeaseMode) {
	a := w.prepare("a", 4, inMode(mode))
	heal := a.path.Every("UpdateItem", onRow("L#", dynamotest.HangAfter()))
	a.begin(context.Background())
	w.within(round, "acquiring", func() bool { return a.path.Count("UpdateItem") > 1 })
	heal()
	a.stop()
	b := w.start("b", 4, inMode(mode))
	w.within(2*round, "worked", func() bool { return w.balanced(4, b) })
}

// When Run has returned nothing renews anything, and nothing is held.
func stopEndsAll(w *world, mode coordinator.LeaseMode) {
	a := w.start("a", 4, inMode(mode))
	w.settle(4, a)
	began := time.Now()
	a.stop()
	if took := time.Since(began); took > interval || w.busy() != 0 {
		w.Errorf("stopped after %v, %d handlers run", took, w.busy())
	}
	if owners, err := w.look().Owners(w.Context(), w.group); err != nil || len(owners) != 0 {
		w.Errorf("owners %v, %v", owners, err)
	}
	a.path.Reset()
	time.Sleep(3 * ttl)
	if n := a.path.Count(""); n != 0 {
		w.Errorf("%d requests afterwards", n)
	}
}

// Work that goes on for half a ttl after it was told to end is not overlapped, and each start of a
// handler has an end.
func paired(w *world, mode coordinator.LeaseMode) {
	var starts, ends atomic.Int32
	slow := handling(func(ctx context.Context, _ coordinator.Assignment) error {
		starts.Add(1)
		defer ends.Add(1)
		<-ctx.Done()
		time.Sleep(ttl / 2)
		return nil
	})
	a := w.start("a", 4, inMode(mode), slow)
	w.within(round, "worked", func() bool { return w.balanced(4, a) })
	b := w.start("b", 4, inMode(mode), slow)
	w.within(ttl/2+3*round, "shared", func() bool { return w.balanced(4, a, b) })
	a.stop()
	w.within(2*round, "taken over", func() bool { return w.balanced(4, b) })
	heal := b.path.Every("", dynamotest.Hang())
	w.within(2*ttl, "lost", func() bool { return w.busy() == 0 })
	heal()
	w.within(2*ttl, "back", func() bool { return w.balanced(4, b) })
	b.stop()
	if starts.Load() != ends.Load() || starts.Load() != int32(w.moves()) {
		w.Errorf("%d starts, %d ends, %d moves", starts.Load(), ends.Load(), w.moves())
	}
}

// A hand-over ends in bounded time whatever state the former owner's handler is in.
func handOverFromEveryState(w *world, mode coordinator.LeaseMode) {
	w.lenient = true
	const drain = ttl / 2
	for i, state := range []string{"returned", "fails", "panics", "hangs", "crashes", "cut off"} {
		w.group = fmt.Sprint(w.group, i) // and so a fleet of its own
		w.service = w.group
		let := make(chan struct{})
		a := w.start("a", 2, inMode(mode), grouped(func(g *coordinator.Group) { g.DrainTimeout = drain }), handling(func(ctx context.Context, lease coordinator.Assignment) error {
			switch state {
			case "returned":
				return nil
			case "fails":
				return errors.New("no")
			case "panics":
				panic("no")
			case "hangs":
				<-let
				return nil
			default:
				return wait(ctx, lease)
			}
		}))
		w.within(2*round, state+": started", func() bool { return len(w.all(a)) >= 2 })
		b := w.start("b", 2, inMode(mode))
		time.Sleep(interval / 2)
		switch state {
		case "crashes":
			a.crash()
		case "cut off":
			a.path.Every("", dynamotest.Hang())
		}
		w.within(drain+ttl+grace+3*round, state+": handed over", func() bool { return len(w.works(b)) >= 1 })
		close(let)
		b.cancel()
		a.cancel()
		<-a.over
		<-b.over
	}
}

// A node that an operator has drained gets nothing any more, and what it has moves at once.
func drainedByOperator(w *world, mode coordinator.LeaseMode) {
	a, b := w.start("a", 6, inMode(mode)), w.start("b", 6, inMode(mode))
	w.settle(6, a, b)
	if err := w.look().Drain(w.Context(), w.service, "a"); err != nil {
		w.Fatal(err)
	}
	w.within(2*round, "moved", func() bool { return w.balanced(6, b) })
	w.always(10*round, "where it is", func() bool { return w.balanced(6, b) })
	if share := a.State().Groups[0].Share; share != 0 {
		w.Errorf("share %d", share)
	}
}

// A stop leaves no gap beyond one round, and costs one request for each partition and one for the
// session.
func noGapAtTheEnd(w *world, mode coordinator.LeaseMode) {
	a, b := w.start("a", 20, inMode(mode)), w.start("b", 20, inMode(mode))
	w.settle(20, a, b)
	a.path.Reset()
	a.stop()
	w.within(round, "taken over", func() bool { return w.balanced(20, b) })
	if n := a.path.Count(""); n > 10+1+2 { // a round may have been on its way
		w.Errorf("%d requests", n)
	}
}

// One node joins four with 25 partitions each, which give up two a round at the most: 20 move, and
// no more.
func budget(w *world, mode coordinator.LeaseMode) {
	two := grouped(func(g *coordinator.Group) { g.MovesPerRound = 2 })
	var nodes []*node
	for i := range 4 {
		nodes = append(nodes, w.prepare(fmt.Sprint("n", i), 100, inMode(mode), two))
		nodes[i].path.Latency(tick) // so that all have joined when they plan first
	}
	for _, n := range nodes {
		n.begin(context.Background())
	}
	w.settle(100, nodes...)
	before, joined := w.moves(), time.Now()
	nodes = append(nodes, w.start("n4", 100, inMode(mode), two))
	w.within(6*round, "in balance", func() bool { return w.balanced(100, nodes...) })
	w.always(5*round, "in balance", func() bool { return w.balanced(100, nodes...) })
	if got := w.moves() - before; got != 20 {
		w.Errorf("%d moves", got)
	}
	for _, n := range nodes[:4] {
		var told []time.Time
		for _, r := range w.all(n) {
			if r.told.After(joined) {
				told = append(told, r.told)
			}
		}
		if len(told) != 5 {
			w.Errorf("%s gave up %d", n.name, len(told))
		}
		for i := range told {
			in := 0
			for _, other := range told {
				if d := other.Sub(told[i]); d >= 0 && d < interval*8/10 {
					in++
				}
			}
			if in > 2 {
				w.Errorf("%s gave up %d in one round", n.name, in)
			}
		}
	}
}

// The next handler starts after the former one is done, or after the drain timeout, and then under
// a greater epoch.
func drainFirst(w *world, mode coordinator.LeaseMode) {
	w.lenient = true
	const drain = ttl
	slow := handling(func(ctx context.Context, lease coordinator.Assignment) error {
		<-ctx.Done()
		time.Sleep(time.Duration(lease.Partition) * ttl / 2) // 0 to 1.5 ttl
		return nil
	})
	a := w.start("a", 4, inMode(mode), slow, grouped(func(g *coordinator.Group) { g.DrainTimeout = drain }))
	w.within(round, "worked", func() bool { return w.balanced(4, a) })
	b := w.start("b", 4, inMode(mode))
	w.within(drain+3*round, "half is handed over", func() bool { return len(w.works(b)) == 2 })
	a.stop()
	w.within(2*round, "all is handed over", func() bool { return len(w.works(b)) == 4 })
	for partition := range 4 {
		runs := w.history(partition)
		former, next := runs[0], runs[len(runs)-1]
		if next.lease.Epoch <= former.lease.Epoch {
			w.Errorf("partition %d: epoch %d after %d", partition, next.lease.Epoch, former.lease.Epoch)
		}
		if waited := next.began.Sub(former.told); (former.ended.IsZero() || next.began.Before(former.ended)) && waited < drain {
			w.Errorf("partition %d: started %v after the former handler was told, which runs still", partition, waited)
		}
	}
}

// A handler that blocks for ten ttl: heartbeats come on time.
func blockedHandler(w *world, mode coordinator.LeaseMode) {
	let := make(chan struct{})
	a := w.start("a", 1, inMode(mode), handling(func(context.Context, coordinator.Assignment) error { <-let; return nil }))
	w.within(round, "worked", func() bool { return w.busy() == 1 })
	a.path.Reset()
	w.always(10*ttl, "good", func() bool { return a.State().Remaining > ttl-round-tick })
	if n := a.path.Count("UpdateItem"); n < int(10*ttl/round)-1 {
		w.Errorf("%d heartbeats in %v", n, 10*ttl)
	}
	close(let)
	if w.moves() != 1 {
		w.Errorf("%d acquisitions", w.moves())
	}
}

// A guarded write fails in a way that nobody knows: the handler is told so, and the lease is
// neither dropped nor doubted.
func unclassified(w *world, mode coordinator.LeaseMode) {
	var mu sync.Mutex
	var results []error
	var store *dynamolease.Store
	write := func(ctx context.Context, lease coordinator.Assignment) error {
		err := store.Transact(ctx, lease.Lease, nil, types.TransactWriteItem{Put: &types.Put{
			TableName: aws.String(w.table),
			Item: map[string]types.AttributeValue{
				"pk": &types.AttributeValueMemberS{Value: "user"}, "sk": &types.AttributeValueMemberS{Value: "row"},
			},
		}})
		mu.Lock()
		results = append(results, err)
		mu.Unlock()
		if err != nil {
			return err
		}
		return wait(ctx, lease)
	}
	a := w.prepare("a", 1, inMode(mode), handling(write))
	store = a.store
	if mode == coordinator.PerLease { // the check at the start
		a.path.Next("TransactWriteItems", func(req *http.Request, send dynamotest.Send) (*http.Response, error) { return send(req) })
	}
	a.path.Next("TransactWriteItems", dynamotest.Reply(418, "TeapotException", "no"))
	a.begin(context.Background())
	w.within(3*round, "written", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(results) == 2 && results[1] == nil
	})
	time.Sleep(5 * round)
	if results[0] == nil || w.moves() != 1 || w.busy() != 1 || !a.State().Alive {
		w.Errorf("%v, %d acquisitions, %s", results, w.moves(), w.summary())
	}
}
