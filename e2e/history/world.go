package history

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

const (
	partitions = 3
	leaseTTL   = 10 * time.Second
	group      = "orders"
	service    = "shop"
)

// A world is one history: a table, the nodes on it, and all events.
type world struct {
	climate
	seed   uint64
	dice   *rand.Rand
	db     *database
	counts faultCount
	late   latecomers
	roads  *traffic
	machines
	blur time.Duration // how far the store's time may differ from the test's; 0 in virtual time

	mu       sync.Mutex
	calls    []*call
	problems []string
	beliefs  [partitions][]*belief
	reigns   []*reign
	bootsRun int
	ordered  map[order]bool // leases that an operator tried to revoke
	losses   map[loss]bool  // rows that somebody deleted by hand
}

// A size says how large a history is.
type size struct {
	nodes, steps, boots int
}

// A stage is the place of a history: a table for it alone, and the connection to it.
type stage struct {
	table string
	wire  wire
	real  bool // in real time, and against a store with its own clock
}

// play runs a history, and returns it at its end. In virtual time, call it in a bubble.
func play(ctx context.Context, on stage, seed uint64, s size) (*world, error) {
	w := &world{seed: seed, dice: rand.New(rand.NewPCG(seed, 0)), ordered: make(map[order]bool), losses: make(map[loss]bool)}
	w.db = &database{table: on.table, wire: on.wire, rows: make(map[rowKey]row), made: make(map[rowKey]time.Time)}
	defer w.db.wire.close()
	w.climate = newClimate(w.dice)
	w.remote = rand.New(rand.NewPCG(seed, 9000)).IntN(3) == 0
	if on.real {
		w.climate, w.blur = realClimate(), time.Second
	}
	w.roads = newTraffic(w.climate, rand.New(rand.NewPCG(seed, 7000)))
	w.machines = newMachines(w.climate, rand.New(rand.NewPCG(seed, 8000)))
	var nodes []*node
	for i := range s.nodes {
		n, err := w.newNode(i)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	operator, err := w.newOperator(s.nodes)
	if err != nil {
		return nil, err
	}
	nodes = append(nodes, operator)
	w.day(ctx, nodes, s.steps/2, s.boots)
	if w.night {
		w.sleep(ctx)
		reaper, err := w.newReaper(s.nodes + 1)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, reaper)
	}
	w.day(ctx, nodes, s.steps-s.steps/2, s.boots)
	for _, n := range nodes {
		n.close()
	}
	w.late.running.Wait()
	w.compare(ctx)
	return w, nil
}

// earliest and latest bound the store's time, in milliseconds, at the test's time t.
func (w *world) earliest(t time.Time) int64 { return t.Add(-w.blur).UnixMilli() }

func (w *world) latest(t time.Time) int64 {
	return t.Add(w.blur + time.Millisecond - time.Nanosecond).UnixMilli()
}

// day lets all nodes work at the same time, for a number of steps each. Meanwhile boots fight for
// an identity.
func (w *world) day(ctx context.Context, nodes []*node, steps, boots int) {
	day, end := context.WithCancel(ctx)
	defer end()
	var working, others sync.WaitGroup
	for _, n := range nodes {
		switch {
		case n.reaps:
			others.Go(func() { n.patrol(day) })
			continue
		case n.operates:
			others.Go(func() { n.operate(day) })
			continue
		}
		if w.slewed {
			others.Go(func() { n.discipline(day) })
		}
		working.Go(func() { n.work(ctx, steps) })
		others.Go(func() { n.keep(day) })
	}
	for range boots {
		w.bootsRun++
		stream := uint64(1000 + w.bootsRun)
		others.Go(func() { w.rule(day, stream) })
	}
	dice := rand.New(rand.NewPCG(w.seed, uint64(w.bootsRun)+2000))
	others.Go(func() { w.sweep(day, dice, 10*time.Second) })
	if w.vandal {
		others.Go(func() { w.vandalise(day, rand.New(rand.NewPCG(w.seed, uint64(w.bootsRun)+6000))) })
	}
	working.Wait()
	end()
	others.Wait()
}

// sleep lets one to two hours pass. In this time DynamoDB deletes some of the rows whose ttl has
// passed.
func (w *world) sleep(ctx context.Context) {
	night, end := context.WithTimeout(ctx, time.Hour+time.Duration(w.dice.Int64N(int64(time.Hour))))
	defer end()
	w.sweep(night, rand.New(rand.NewPCG(w.seed, 3000)), 10*time.Minute)
}

// sweep deletes rows whose ttl has passed, as DynamoDB does: one by one, sooner or later, at any
// moment.
func (w *world) sweep(ctx context.Context, dice *rand.Rand, every time.Duration) {
	client := w.quietPath().client()
	for pause(ctx, time.Duration(1+dice.Int64N(int64(every)))) {
		due := w.db.due(time.Now())
		if len(due) == 0 {
			continue
		}
		k := due[dice.IntN(len(due))]
		c := w.begin(&call{what: sweep, node: -1})
		c.yes, c.err = deleteDue(context.WithValue(ctx, callKey{}, c), client, w.db.table, k)
		w.end(c)
	}
}

// begin notes that a call begins.
func (w *world) begin(c *call) *call {
	c.leases = make(map[int]dynamolease.Lease)
	c.from, c.began = w.db.tick(), time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, c)
	return c
}

// end notes that a call has ended.
func (w *world) end(c *call) { c.ended, c.to = time.Now(), w.db.tick() }

// problem notes a broken promise.
func (w *world) problem(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problems = append(w.problems, fmt.Sprintf(format, args...))
}

// pause waits for d and reports whether ctx lasted for it.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
