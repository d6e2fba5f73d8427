package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

const (
	ttl      = 9 * time.Second
	interval = 3 * time.Second

	// round is the longest time from one round of a node to the next: the interval and its jitter.
	round = interval * 11 / 10

	// grace is by how much the store's bounds may delay the end of an expired session: slack, the
	// whole second of the Date header, and margins, on the writer's side and on the judge's.
	grace = 5 * time.Second

	// tick is how exactly tests look at the time.
	tick = 10 * time.Millisecond
)

// A world is a table, the names that one test uses in it, and a watch over its handlers.
type world struct {
	testing.TB
	server  *dynamotest.Server
	table   string
	group   string
	service string
	*watch
}

// inVirtualTime runs a test in a bubble whose clock only moves when all wait, against the real
// server. The Date of its responses is the bubble's time. Tests run in parallel: each has a table
// and a clock of its own.
func inVirtualTime(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	s := startServer(t)
	w := &world{server: s, table: s.Table(t)}
	w.watch = &watch{w: w, active: make(map[place]*run), latest: make(map[place]*run), epochs: make(map[place]int64)}
	id := uuid.NewString()[:8]
	w.group, w.service = "orders-"+id, "shop-"+id
	synctest.Test(t, func(t *testing.T) {
		w.TB = t
		test(w)
	})
}

// inBothModes runs a test with leases in sessions, and with leases that have an expiry of their
// own; with -short in one of the modes.
func inBothModes(t *testing.T, test func(w *world, mode coordinator.LeaseMode)) {
	t.Helper()
	t.Parallel()
	for _, mode := range testkit.Some(t, coordinator.Sessions, coordinator.PerLease) {
		name := map[coordinator.LeaseMode]string{coordinator.Sessions: "sessions", coordinator.PerLease: "per lease"}[mode]
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) { test(w, mode) })
		})
	}
}

// A node is one process of the world: its own path to the server, its own clocks, its own store,
// its own coordinator.
type node struct {
	w     *world
	name  string
	path  *dynamotest.Transport
	store *dynamolease.Store
	clock
	*coordinator.Coordinator

	cancel context.CancelFunc
	over   chan struct{} // closed when Run has returned
	err    error         // what it returned
	dead   bool          // it crashed: what its handlers do is not there any more
}

// A setting changes the configuration of a node.
type setting func(*coordinator.Config)

func inMode(r coordinator.LeaseMode) setting {
	return func(c *coordinator.Config) { c.LeaseMode = r }
}

// handling has a node call handler in place of one that waits for the end of its context.
func handling(handler coordinator.Handler) setting {
	return func(c *coordinator.Config) { c.Groups[0].Handler = handler }
}

func grouped(change func(g *coordinator.Group)) setting {
	return func(c *coordinator.Config) { change(&c.Groups[0]) }
}

// prepare makes a node that has not begun yet. Its handlers are watched.
func (w *world) prepare(name string, partitions int, settings ...setting) *node {
	w.Helper()
	return w.prepareWith(nil, name, partitions, settings...)
}

// prepareWith makes a node whose store has an option more.
func (w *world) prepareWith(option func(*dynamolease.Options), name string, partitions int, settings ...setting) *node {
	w.Helper()
	n := &node{w: w, name: name, path: w.server.VirtualTransport(), clock: newClock(), over: make(chan struct{})}
	w.Cleanup(n.path.Close)
	var err error
	n.store, err = dynamolease.New(n.path.Client(), w.table, func(o *dynamolease.Options) {
		o.Elapsed = n.Elapsed
		o.Logger = slog.New(slog.DiscardHandler)
		if option != nil {
			option(o)
		}
	})
	if err != nil {
		w.Fatal(err)
	}
	cfg := coordinator.Config{
		Service: w.service, Node: name, Address: name + ":1", TTL: ttl, Interval: interval, Logger: slog.New(slog.DiscardHandler),
		Groups: []coordinator.Group{{Name: w.group, Partitions: partitions, Handler: wait}},
	}
	for _, s := range settings {
		s(&cfg)
	}
	for i := range cfg.Groups {
		cfg.Groups[i].Handler = w.watched(n, cfg.Groups[i].Handler)
	}
	if n.Coordinator, err = coordinator.New(n.store, cfg); err != nil {
		w.Fatal(err)
	}
	return n
}

// start makes a node and has it run. It is stopped when the test ends.
func (w *world) start(name string, partitions int, settings ...setting) *node {
	w.Helper()
	n := w.prepare(name, partitions, settings...)
	n.begin(context.Background())
	return n
}

func (n *node) begin(ctx context.Context) {
	ctx, n.cancel = context.WithCancel(ctx)
	go func() {
		defer close(n.over)
		n.err = n.Run(ctx)
	}()
	n.w.Cleanup(func() {
		n.cancel()
		<-n.over
		n.store.Close()
	})
}

// stop stops a node gracefully, and expects that nothing goes wrong with that.
func (n *node) stop() {
	n.w.Helper()
	n.cancel()
	<-n.over
	if n.err != nil {
		n.w.Errorf("Run of %s: %v", n.name, n.err)
	}
}

// crash ends a node as kill -9 would: nothing of it reaches the store any more, and its handlers
// are gone.
func (n *node) crash() {
	n.path.Close()
	n.w.bury(n)
	n.cancel()
}

// wait is the handler that does nothing until it is told to stop.
func wait(ctx context.Context, _ coordinator.Assignment) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// look returns a store that takes no part.
func (w *world) look() *dynamolease.Store {
	w.Helper()
	path := w.server.VirtualTransport()
	w.Cleanup(path.Close)
	c := newClock()
	store, err := dynamolease.New(path.Client(), w.table, func(o *dynamolease.Options) { o.Elapsed = c.Elapsed })
	if err != nil {
		w.Fatal(err)
	}
	return store
}

// direct is a client past all stores and faults.
func (w *world) direct() *dynamodb.Client {
	path := w.server.VirtualTransport()
	w.Cleanup(path.Close)
	return path.Client()
}

// within waits until something is the case, and fails the test when it is not after d. It returns
// how long it took.
func (w *world) within(d time.Duration, what string, is func() bool) time.Duration {
	w.Helper()
	began := time.Now()
	for !is() {
		if time.Since(began) > d {
			w.Fatalf("not %s within %v; running: %s", what, d, w.summary())
		}
		time.Sleep(tick)
	}
	return time.Since(began)
}

// always passes d while something is the case.
func (w *world) always(d time.Duration, what string, is func() bool) {
	w.Helper()
	for began := time.Now(); time.Since(began) < d; time.Sleep(tick) {
		if !is() {
			w.Fatalf("not %s any more after %v; running: %s", what, time.Since(began), w.summary())
		}
	}
}

// A watch knows which handlers run. It fails the test when two run for one partition at the same
// time, and when a handler's epoch is not above all earlier ones of the partition.
type watch struct {
	w *world

	mu      sync.Mutex
	active  map[place]*run
	epochs  map[place]int64
	runs    []*run
	latest  map[place]*run
	gained  int  // how often a partition changed hands
	lenient bool // a handler may run on when its lease is over
}

type place struct {
	group     string
	partition int
}

// A run is one call of a handler.
type run struct {
	node  *node
	lease coordinator.Assignment
	began time.Time
	ended time.Time // zero while it runs
	told  time.Time // when its context ended, if it watched for that
	cause error     // of the end of its context; nil when it returned before
}

// watched wraps a handler so that the world knows when it runs.
func (w *world) watched(n *node, handler coordinator.Handler) coordinator.Handler {
	return func(ctx context.Context, lease coordinator.Assignment) error {
		r := w.enter(n, lease)
		stop := context.AfterFunc(ctx, func() { w.tell(r, context.Cause(ctx)) })
		defer func() {
			stop()
			w.leave(r, context.Cause(ctx))
		}()
		return handler(ctx, lease)
	}
}

func (w *watch) enter(n *node, lease coordinator.Assignment) *run {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := place{lease.Group, lease.Partition}
	r := &run{node: n, lease: lease, began: time.Now()}
	if n.dead {
		return r
	}
	if other := w.active[at]; other != nil && (!w.lenient || other.lease.Remaining() > 0) {
		w.w.Errorf("%s starts to work partition %d under epoch %d while %s does under epoch %d with %v left",
			n.name, at.partition, lease.Epoch, other.node.name, other.lease.Epoch, other.lease.Remaining())
	}
	last := w.latest[at]
	again := last != nil && last.node == n && last.lease.Epoch == lease.Epoch
	if !again {
		w.gained++
		if lease.Epoch <= w.epochs[at] {
			w.w.Errorf("%s works partition %d under epoch %d after epoch %d", n.name, at.partition, lease.Epoch, w.epochs[at])
		}
	}
	w.epochs[at] = max(w.epochs[at], lease.Epoch)
	w.active[at], w.latest[at] = r, r
	w.runs = append(w.runs, r)
	return r
}

func (w *watch) tell(r *run, cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r.told, r.cause = time.Now(), cause
}

func (w *watch) leave(r *run, cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r.ended, r.cause = time.Now(), cause
	if r.told.IsZero() && cause != nil {
		r.told = r.ended
	}
	at := place{r.lease.Group, r.lease.Partition}
	if w.active[at] == r {
		delete(w.active, at)
	}
}

// bury notes that the handlers of a node that crashed are gone.
func (w *watch) bury(n *node) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n.dead = true
	for at, r := range w.active {
		if r.node == n {
			delete(w.active, at)
		}
	}
}

// works lists the partitions whose handler a node runs, in the world's own group.
func (w *world) works(n *node) []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []int
	for at, r := range w.active {
		if r.node == n && at.group == w.group {
			list = append(list, at.partition)
		}
	}
	slices.Sort(list)
	return list
}

// busy is how many partitions of all groups are worked.
func (w *watch) busy() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.active)
}

// moves is how often a partition changed hands so far, first acquisitions included.
func (w *watch) moves() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.gained
}

// history lists the runs of one partition of the world's own group.
func (w *world) history(partition int) []run {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []run
	for _, r := range w.runs {
		if r.lease.Group == w.group && r.lease.Partition == partition {
			list = append(list, *r)
		}
	}
	return list
}

// all lists the runs of a node.
func (w *watch) all(n *node) []run {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []run
	for _, r := range w.runs {
		if r.node == n {
			list = append(list, *r)
		}
	}
	return list
}

// summary says how many partitions each node works.
func (w *watch) summary() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	count := make(map[string]int)
	for _, r := range w.active {
		count[r.node.name]++
	}
	return strings.TrimPrefix(fmt.Sprint(count), "map")
}

// balanced reports whether each partition is worked, and nodes work as many as they should: P/n, and
// one more at most.
func (w *world) balanced(partitions int, nodes ...*node) bool {
	if w.busy() != partitions {
		return false
	}
	total := 0
	for _, share := range w.shares(nodes...) {
		if share != partitions/len(nodes) && (partitions%len(nodes) == 0 || share != partitions/len(nodes)+1) {
			return false
		}
		total += share
	}
	return total == partitions
}

// settle waits until a fleet is in balance and then some rounds more.
func (w *world) settle(partitions int, nodes ...*node) {
	w.Helper()
	w.within(10*round, "in balance", func() bool { return w.balanced(partitions, nodes...) })
	time.Sleep(3 * round)
	if !w.balanced(partitions, nodes...) {
		w.Fatalf("out of balance again: %s", w.summary())
	}
}

// shares lists how many partitions each node works.
func (w *world) shares(nodes ...*node) []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	count := make(map[*node]int)
	for at, r := range w.active {
		if at.group == w.group {
			count[r.node]++
		}
	}
	list := make([]int, len(nodes))
	for i, n := range nodes {
		list[i] = count[n]
	}
	return list
}

// fewest is the least possible number of partitions that must change hands, or be acquired, until
// nodes that have kept so many of them are in balance.
func fewest(partitions int, kept []int) int {
	least, rest := partitions/len(kept), partitions%len(kept)
	stay := 0
	for _, k := range kept {
		stay += min(k, least)
		if k > least && rest > 0 {
			stay++
			rest--
		}
	}
	return partitions - stay
}

func TestFewest(t *testing.T) {
	for _, c := range []struct {
		partitions int
		kept       []int
		want       int
	}{
		{10, []int{5, 5, 0}, 3}, {100, []int{25, 25, 25, 25, 0}, 20}, {3, []int{1, 1, 1, 0}, 0}, {7, []int{7, 0}, 3}, {4, []int{0, 0}, 4},
	} {
		if got := fewest(c.partitions, c.kept); got != c.want {
			t.Errorf("%d partitions, kept %v: %d, want %d", c.partitions, c.kept, got, c.want)
		}
	}
}

func isArgument(err error, name string) bool {
	var argument *dynamolease.ArgumentError
	return errors.As(err, &argument) && argument.Argument == name
}
