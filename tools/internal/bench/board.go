package bench

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// A board shows which node works each partition, and since when. The handlers write it.
type board struct {
	changed chan struct{} // has room for one: a waiter looks again

	mu    sync.Mutex
	works map[int]work
}

type work struct {
	node  string
	since time.Time
}

func newBoard() *board { return &board{changed: make(chan struct{}, 1), works: make(map[int]work)} }

// handler returns the handler of a node: it works until it is told to stop, and then returns at
// once.
func (b *board) handler(node string) coordinator.Handler {
	return func(ctx context.Context, lease coordinator.Assignment) error {
		b.change(func() { b.works[lease.Partition] = work{node, time.Now()} })
		<-ctx.Done()
		b.change(func() {
			if b.works[lease.Partition].node == node {
				delete(b.works, lease.Partition)
			}
		})
		return nil
	}
}

func (b *board) change(f func()) {
	b.mu.Lock()
	f()
	b.mu.Unlock()
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// await waits until these nodes work all partitions, evenly, and returns when the last of them
// began. Only one caller may wait at a time.
func (b *board) await(ctx context.Context, partitions int, nodes ...string) (last time.Time, err error) {
	err = b.until(ctx, func() (ok bool) {
		last, ok = b.even(partitions, nodes)
		return ok
	})
	return last, err
}

// awaitAll waits until these nodes work all partitions, in whatever shares.
func (b *board) awaitAll(ctx context.Context, partitions int, nodes ...string) error {
	return b.until(ctx, func() bool { return len(b.of(nodes...)) == partitions })
}

func (b *board) until(ctx context.Context, is func() bool) error {
	for !is() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-b.changed:
		}
	}
	return nil
}

// of returns the partitions that these nodes work.
func (b *board) of(nodes ...string) (partitions []int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for partition, w := range b.works {
		if slices.Contains(nodes, w.node) {
			partitions = append(partitions, partition)
		}
	}
	return partitions
}

// since returns how long after a moment the present work on partitions began, in seconds.
func (b *board) since(partitions []int, moment time.Time) (seconds []float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, partition := range partitions {
		seconds = append(seconds, b.works[partition].since.Sub(moment).Seconds())
	}
	return seconds
}

func (b *board) even(partitions int, nodes []string) (last time.Time, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	counts := make(map[string]int)
	for _, w := range b.works {
		counts[w.node]++
		if w.since.After(last) {
			last = w.since
		}
	}
	total := 0
	for _, node := range nodes {
		if counts[node] < partitions/len(nodes) {
			return last, false
		}
		total += counts[node]
	}
	return last, total == partitions
}
