package fleet

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// A watch knows which node works which partition. At each change it checks that no two nodes work
// one partition, and that epochs grow.
type watch struct {
	script  script
	log     *journal
	violate func(format string, args ...any)
	beat    func(node string) time.Time // when its latest heartbeat reached the server

	mu     sync.Mutex
	latest map[int]*holding
	open   map[int][]*holding // those whose contexts have not ended, or whose handlers run
	moves  int                // how often a node gained a partition
}

// A holding is the time in which a node has the lease of a partition under one epoch.
type holding struct {
	node    *node
	lease   coordinator.Assignment
	began   time.Time
	told    time.Time // when the context ended; zero before
	cause   error
	running bool // its handler runs
	overdue bool // at the latest check the lease had no time left, and the context had not ended
}

func newWatch(s script, log *journal, beat func(string) time.Time, violate func(string, ...any)) *watch {
	return &watch{script: s, log: log, beat: beat, violate: violate, latest: make(map[int]*holding), open: make(map[int][]*holding)}
}

// watched returns the handler of a node.
func (w *watch) watched(n *node) coordinator.Handler {
	return func(ctx context.Context, lease coordinator.Assignment) error {
		t := w.enter(ctx, n, lease)
		defer w.exit(t)
		return w.script.work(ctx, lease)
	}
}

func (w *watch) enter(ctx context.Context, n *node, lease coordinator.Assignment) *holding {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := w.latest[lease.Partition]
	if last != nil && last.node == n && last.lease.Epoch == lease.Epoch { // the node calls the handler again
		last.running = true
		return last
	}
	t := &holding{node: n, lease: lease, began: time.Now(), running: true}
	if n.dead {
		return t // the node crashed: ignore its handler
	}
	w.log.add(n.name, "gains", lease.Partition)
	w.check(t, last)
	w.moves++
	w.latest[lease.Partition] = t
	w.open[lease.Partition] = append(w.open[lease.Partition], t)
	context.AfterFunc(ctx, func() { w.tell(t, context.Cause(ctx)) })
	return t
}

// check compares a new holding with all open ones. The caller has the mutex.
func (w *watch) check(t, last *holding) {
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
		w.violate("%s gains partition %d, and it is drained", t.node.name, p)
	}
	for _, other := range w.open[p] {
		switch left := other.lease.Remaining(); {
		case other.node.gone():
		case left > 0:
			w.violate("%s gains partition %d, and the lease of %s has %v left", t.node.name, p, other.node.name, left)
		case other.running && !w.excused(other):
			w.violate("%s gains partition %d, and the handler of %s still runs", t.node.name, p, other.node.name)
		}
	}
}

// excused reports whether a handler may run although its lease is over. A slow or stuck handler may
// run if the node lost the lease, or if the drain timeout has passed. A handler may also run if its
// node was paused until a moment ago: the timers of the node are late, and the context will end.
// Until it does, the lease reports that it has no time left.
func (w *watch) excused(t *holding) bool {
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

// stopSlack is the time for requests that were on their way when a node began to stop.
const stopSlack = 2 * time.Second

func (w *watch) exit(t *holding) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t.running = false
	w.prune(t.lease.Partition)
}

// tell notes the end of a context.
func (w *watch) tell(t *holding, cause error) {
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

// prune removes the holdings that are over from open. The caller has the mutex.
func (w *watch) prune(p int) {
	var kept []*holding
	for _, t := range w.open[p] {
		if t.running || t.told.IsZero() {
			kept = append(kept, t)
		}
	}
	w.open[p] = kept
}

// look checks that a context has ended if its lease has. It reports a violation only if two checks
// in a row find one, since the lease may end at the very moment of the first. It also checks that
// no node believes in a lease for longer than it may.
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
				w.violate("the lease of %s of partition %d has no time left, and the context of its handler has not ended", t.node.name, p)
			}
			t.overdue = true
		}
	}
}

// lookAtBelief checks that the validity of a lease counts from the moment at which the node sent
// its latest heartbeat, not from the answer. The caller has the mutex.
func (w *watch) lookAtBelief(t *holding) {
	if w.script.mode != coordinator.Sessions || t.node.gone() {
		return
	}
	left, may := t.lease.Remaining(), w.script.ttl-time.Since(w.beat(t.node.name))
	if left > max(0, may)+w.script.ttl/5000 { // its clock drifts, by 150 ppm at most
		w.violate("%s believes in its lease of partition %d for %v more, and its latest heartbeat allows %v", t.node.name, t.lease.Partition, left, may)
	}
}

// holds returns how many partitions each node works.
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

// owners returns which node works each partition.
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

// moved returns how often a node has gained a partition so far.
func (w *watch) moved() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.moves
}

// believed returns the most time that any of a node's holdings has left.
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
