package fleet

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// A watch knows who works which partition, and checks it at each change: no two at once, and epochs grow.
type watch struct {
	script  script
	log     *journal
	violate func(format string, args ...any)
	beat    func(node string) time.Time // when its latest heartbeat reached the server

	mu     sync.Mutex
	latest map[int]*tenure
	open   map[int][]*tenure // that are not over: their contexts have not ended, or their handlers run
	moves  int               // how often a partition came to a node
}

// A tenure is the time that a node holds a partition for, under one epoch.
type tenure struct {
	node    *node
	lease   coordinator.Assignment
	began   time.Time
	told    time.Time // when the context ended; zero before
	cause   error
	running bool // its handler
	overdue bool // it had nothing left at the latest look, and was not told
}

func newWatch(s script, log *journal, beat func(string) time.Time, violate func(string, ...any)) *watch {
	return &watch{script: s, log: log, beat: beat, violate: violate, latest: make(map[int]*tenure), open: make(map[int][]*tenure)}
}

// watched is the handler of a node.
func (w *watch) watched(n *node) coordinator.Handler {
	return func(ctx context.Context, lease coordinator.Assignment) error {
		t := w.enter(ctx, n, lease)
		defer w.exit(t)
		return w.script.work(ctx, lease)
	}
}

func (w *watch) enter(ctx context.Context, n *node, lease coordinator.Assignment) *tenure {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := w.latest[lease.Partition]
	if last != nil && last.node == n && last.lease.Epoch == lease.Epoch { // it is called again
		last.running = true
		return last
	}
	t := &tenure{node: n, lease: lease, began: time.Now(), running: true}
	if n.dead {
		return t // it is not there any more
	}
	w.log.add(n.name, "gains", lease.Partition)
	w.check(t, last)
	w.moves++
	w.latest[lease.Partition] = t
	w.open[lease.Partition] = append(w.open[lease.Partition], t)
	context.AfterFunc(ctx, func() { w.tell(t, context.Cause(ctx)) })
	return t
}

// check compares a tenure that begins with all that are not over. The caller has the mutex.
func (w *watch) check(t, last *tenure) {
	p := t.lease.Partition
	if last != nil && t.lease.Epoch <= last.lease.Epoch {
		w.violate("%s gains partition %d under epoch %d after %s had it under %d", t.node.name, p, t.lease.Epoch, last.node.name, last.lease.Epoch)
	}
	if !t.node.stopping.IsZero() && time.Since(t.node.stopping) > stopSlack {
		w.violate("%s gains partition %d %v after it began to stop", t.node.name, p, time.Since(t.node.stopping))
	}
	if !t.node.mutedSince.IsZero() && time.Since(t.node.mutedSince) > w.script.interval()*5/4 {
		w.violate("%s gains partition %d although its heartbeats fail", t.node.name, p)
	}
	if !t.node.drainedSince.IsZero() && time.Since(t.node.drainedSince) > w.script.interval()*5/4 {
		w.violate("%s gains partition %d, and is drained", t.node.name, p)
	}
	for _, other := range w.open[p] {
		switch left := other.lease.Remaining(); {
		case other.node.gone():
		case left > 0:
			w.violate("%s gains partition %d, and %s has %v left of it", t.node.name, p, other.node.name, left)
		case other.running && !w.excused(other):
			w.violate("%s gains partition %d, and the handler of %s runs", t.node.name, p, other.node.name)
		}
	}
}

// excused tells whether a handler may run although its lease is over: it takes its time, and the lease was lost, or the
// drain timeout has passed; or its node was paused until a moment ago, and its timers are late: what has nothing left tells
// who asks, and the context will end.
func (w *watch) excused(t *tenure) bool {
	if t.told.IsZero() && !t.node.resumed.IsZero() && time.Since(t.node.resumed) < w.script.interval()/25 {
		return true
	}
	switch w.script.temperOf(t.lease.Partition) {
	case slow, stuck:
		return errors.Is(t.cause, coordinator.ErrLost) || !t.told.IsZero() && time.Since(t.told) >= w.script.drain
	default:
		return false
	}
}

// stopSlack is for what was on its way when a node was told to stop.
const stopSlack = 2 * time.Second

func (w *watch) exit(t *tenure) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t.running = false
	w.prune(t.lease.Partition)
}

// tell notes the end of a context.
func (w *watch) tell(t *tenure, cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t.told, t.cause = time.Now(), cause
	if !t.node.dead {
		w.log.add(t.node.name, verb(cause), t.lease.Partition)
	}
	w.prune(t.lease.Partition)
}

func verb(cause error) string {
	switch {
	case errors.Is(cause, coordinator.ErrLost):
		return "loses"
	case errors.Is(cause, coordinator.ErrRevoked):
		return "hands over"
	default:
		return "stops"
	}
}

// prune forgets the tenures that are over. The caller has the mutex.
func (w *watch) prune(p int) {
	var kept []*tenure
	for _, t := range w.open[p] {
		if t.running || t.told.IsZero() {
			kept = append(kept, t)
		}
	}
	w.open[p] = kept
}

// look checks that contexts have ended where the lease is over: at two looks, since it may end at the very moment. And
// that nobody believes for longer than it may.
func (w *watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for p, list := range w.open {
		for _, t := range list {
			w.lookAtBelief(t)
			if !t.told.IsZero() || t.node.gone() || t.node.stepped || t.lease.Remaining() > 0 {
				t.overdue = false
				continue
			}
			if t.overdue {
				w.violate("%s has nothing left of partition %d, and its handler was not told", t.node.name, p)
			}
			t.overdue = true
		}
	}
}

// lookAtBelief checks that what a node believes counts from when it sent its latest heartbeat, not from the answer. The
// caller has the mutex.
func (w *watch) lookAtBelief(t *tenure) {
	if w.script.mode != coordinator.Sessions || t.node.gone() {
		return
	}
	left, may := t.lease.Remaining(), w.script.ttl-time.Since(w.beat(t.node.name))
	if left > max(0, may)+w.script.ttl/5000 { // its clock drifts, by 150 ppm at most
		w.violate("%s believes in partition %d for %v more, its latest heartbeat allows for %v", t.node.name, t.lease.Partition, left, may)
	}
}

// holds is how many partitions each node works.
func (w *watch) holds() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	count := make(map[string]int)
	for _, t := range w.latest {
		if t.told.IsZero() && !t.node.gone() {
			count[t.node.name]++
		}
	}
	return count
}

// owners is who works each partition.
func (w *watch) owners() map[int]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	owners := make(map[int]string, len(w.latest))
	for p, t := range w.latest {
		if t.told.IsZero() && !t.node.gone() {
			owners[p] = t.node.name
		}
	}
	return owners
}

// moved is how often a partition came to a node so far.
func (w *watch) moved() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.moves
}

// believed is how long each of a node's tenures has left, at most.
func (w *watch) believed(n *node) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	var most time.Duration
	for t := range maps.Values(w.latest) {
		if t.node == n && t.told.IsZero() {
			most = max(most, t.lease.Remaining())
		}
	}
	return most
}
