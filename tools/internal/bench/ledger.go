package bench

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// A ledger shows which node works each partition while a fleet changes. The handlers write it. A
// change begins with begin, and may have several steps, each with a set of nodes of its own.
type ledger struct {
	changed chan struct{} // has room for one: a waiter looks again

	mu      sync.Mutex
	works   []entry        // of each partition
	counts  map[string]int // partitions that each of the nodes works
	working int            // partitions that the nodes work
	fault   error          // two nodes worked one partition
	stepped time.Time      // when the step began
	tally
}

// An entry is the work on one partition.
type entry struct {
	node   string    // that works it; "" for none
	since  time.Time // when that began, or when the last one ended
	waited bool      // it has to be worked by another node in this step, and was not yet
	starts int       // of handlers in this change
}

// A tally is the outcome of a change.
type tally struct {
	seconds []float64 // from the step until each partition that had to move was worked again, or first
	idle    []float64 // how long nobody worked a partition, of each move
	moves   int       // starts of handlers
	least   int       // moves that would do
}

func newLedger(partitions int) *ledger {
	return &ledger{changed: make(chan struct{}, 1), works: make([]entry, partitions), counts: make(map[string]int)}
}

// handler returns the handler of a node: it works until it is told to stop, and then returns at
// once.
func (l *ledger) handler(node string) coordinator.Handler {
	return func(ctx context.Context, lease coordinator.Assignment) error {
		l.start(node, lease.Partition)
		<-ctx.Done()
		l.end(node, lease.Partition)
		return nil
	}
}

func (l *ledger) start(node string, partition int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := &l.works[partition]
	if e.node != "" {
		l.fault = fmt.Errorf("partition %d is worked by %s and by %s", partition, e.node, node)
	}
	now := time.Now()
	l.idle = append(l.idle, now.Sub(e.since).Seconds())
	if e.waited {
		e.waited = false
		l.seconds = append(l.seconds, now.Sub(l.stepped).Seconds())
	}
	l.moves++
	e.starts++
	e.node, e.since = node, now
	l.count(node, 1)
}

func (l *ledger) end(node string, partition int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.works[partition].node == node {
		l.free(partition)
	}
}

func (l *ledger) free(partition int) {
	e := &l.works[partition]
	l.count(e.node, -1)
	e.node, e.since = "", time.Now()
}

func (l *ledger) count(node string, by int) {
	if _, ok := l.counts[node]; ok {
		l.counts[node] += by
		l.working += by
	}
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// begin starts a change: it forgets the one before.
func (l *ledger) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tally = tally{}
	for i := range l.works {
		l.works[i].starts = 0
	}
}

// step says which nodes are to share the partitions from now on.
func (l *ledger) step(nodes []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stepped = time.Now()
	clear(l.counts)
	l.working = 0
	for _, node := range nodes {
		l.counts[node] = 0
	}
	for i := range l.works {
		e := &l.works[i]
		if e.node == "" {
			e.since = l.stepped
		}
		l.count(e.node, 1)
	}
	l.least += l.fewest()
	over := l.beyond()
	for i := range l.works {
		e := &l.works[i]
		_, stays := l.counts[e.node]
		e.waited = !stays || over[e.node]
	}
}

// fewest returns how many partitions have to move until the nodes share them evenly: those of no
// node, and those that are too many, where the fullest nodes keep the larger shares.
func (l *ledger) fewest() int {
	var counts []int
	for _, n := range l.counts {
		counts = append(counts, n)
	}
	slices.Sort(counts)
	slices.Reverse(counts)
	moves := len(l.works) - l.working
	for i, n := range counts {
		share := len(l.works) / len(counts)
		if i < len(l.works)%len(counts) {
			share++
		}
		moves += max(0, n-share)
	}
	return moves
}

// beyond returns the nodes that have more than a share: any of their partitions may have to move.
func (l *ledger) beyond() map[string]bool {
	found := make(map[string]bool)
	for node, n := range l.counts {
		found[node] = n > len(l.works)/len(l.counts)
	}
	return found
}

// crash ends the work of a node at once: its handlers do not count from now on.
func (l *ledger) crash(node string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.works {
		if l.works[i].node == node {
			l.free(i)
		}
	}
}

// await waits until the nodes work all partitions in even shares.
func (l *ledger) await(ctx context.Context) error {
	for {
		even, err := l.even()
		if even || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-l.changed:
		}
	}
}

func (l *ledger) even() (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	least, most := len(l.works), 0
	for _, n := range l.counts {
		least, most = min(least, n), max(most, n)
	}
	return l.working == len(l.works) && most-least <= 1, l.fault
}

// result returns the outcome of the change so far, and on how many partitions handlers started more
// than once in it.
func (l *ledger) result() (t tally, twice int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.works {
		if e.starts > 1 {
			twice++
		}
	}
	return l.tally, twice
}
