package dynamolease_test

import (
	"sync"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// beliefs watches what nodes believe to hold.
type beliefs struct {
	w      *world
	mu     sync.Mutex
	held   map[*node]map[int]dynamolease.Lease
	epochs map[int]dynamolease.Lease // the greatest epoch of each partition, and who had it
}

func (w *world) beliefs() *beliefs {
	return &beliefs{w: w, held: make(map[*node]map[int]dynamolease.Lease), epochs: make(map[int]dynamolease.Lease)}
}

// believe notes that a call of a node returned this lease, as the node's own.
func (b *beliefs) believe(n *node, lease dynamolease.Lease) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held[n] == nil {
		b.held[n] = make(map[int]dynamolease.Lease)
	}
	b.held[n][lease.Partition] = lease
	greatest := b.epochs[lease.Partition]
	if lease.Epoch < greatest.Epoch || lease.Epoch == greatest.Epoch && lease.Owner != greatest.Owner {
		b.w.Errorf("%v: %s has partition %d at epoch %d, after %s at epoch %d", time.Now(), lease.Owner, lease.Partition, lease.Epoch, greatest.Owner, greatest.Epoch)
	}
	b.epochs[lease.Partition] = lease
	b.compare()
}

// forget notes that a node has given a partition up.
func (b *beliefs) forget(n *node, partition int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.held[n], partition)
}

// over expects that no node believes in a lease that is free, or another's.
func (b *beliefs) over(partition int, epoch int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, leases := range b.held {
		if lease := leases[partition]; lease.Epoch <= epoch && lease.Remaining() > 0 {
			b.w.Errorf("%v: %s has %v left of partition %d at epoch %d, which was taken from it", time.Now(), lease.Owner, lease.Remaining(), partition, lease.Epoch)
		}
	}
}

func (b *beliefs) check() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.compare()
}

// compare expects that no partition has two holders now.
func (b *beliefs) compare() {
	holders := make(map[int]dynamolease.Lease)
	for _, leases := range b.held {
		for partition, lease := range leases {
			if lease.Remaining() <= 0 {
				continue
			}
			if other, two := holders[partition]; two {
				b.w.Errorf("%v: %s (epoch %d, %v left) and %s (epoch %d, %v left) both hold partition %d", time.Now(),
					lease.Owner, lease.Epoch, lease.Remaining(), other.Owner, other.Epoch, other.Remaining(), partition)
			}
			holders[partition] = lease
		}
	}
}

// holdAndTake has a hold and renew partition 1 while b tries to take it, then a die, and b take it in time. Before each
// step of half a second it disturbs the world.
func (w *world) holdAndTake(a, b *node, disturb func(step int)) {
	w.Helper()
	seen := w.beliefs()
	seen.believe(a, a.acquire(1, "a"))
	for step := range 60 {
		disturb(step)
		if step%5 == 0 {
			if leases := a.renew("a", 1); len(leases) == 1 {
				seen.believe(a, leases[0])
			} else {
				seen.forget(a, 1)
				if lease, acquired := a.mayAcquire("a"); acquired {
					seen.believe(a, lease)
				}
			}
		}
		if lease, acquired := b.mayAcquire("b"); acquired {
			w.Fatalf("%v: b took the lease, with epoch %d", time.Now(), lease.Epoch)
		}
		seen.check()
		time.Sleep(500 * time.Millisecond)
	}
	died := time.Now()
	for step := 60; ; step++ {
		disturb(step)
		if lease, acquired := b.mayAcquire("b"); acquired {
			seen.believe(b, lease)
			break
		}
		if time.Since(died) > ttl+5*time.Second {
			w.Fatal("an expired lease cannot be taken")
		}
		time.Sleep(500 * time.Millisecond)
	}
}

func (n *node) mayAcquire(owner string) (dynamolease.Lease, bool) {
	n.w.Helper()
	lease, acquired, err := n.Acquire(n.w.Context(), n.w.group, 1, owner, ttl)
	if err != nil {
		n.w.Fatal(err)
	}
	return lease, acquired
}

// Wall clocks wrong by hours, or stepping, never give a lease two holders and never keep an expired one from being taken.
func TestSkewedClocks(t *testing.T) {
	for name, test := range map[string]struct{ start, a, b func(n *node, step int) }{
		"ahead from the start":     {start: func(n *node, _ int) { n.Step(3 * time.Hour) }},
		"a holder steps forward":   {a: once(7, func(n *node) { n.Step(3 * time.Hour) })},
		"a rival steps forward":    {b: once(7, func(n *node) { n.Step(3 * time.Hour) })},
		"a rival steps back":       {b: once(7, func(n *node) { n.Step(-3 * time.Hour) })},
		"a rival steps every time": {b: func(n *node, _ int) { n.Step(3 * time.Hour) }},
		"a holder steps a little":  {a: func(n *node, _ int) { n.Step(30 * time.Millisecond) }},
		"a rival steps a little":   {b: func(n *node, _ int) { n.Step(30 * time.Millisecond) }},
		"a rival is suspended":     {b: once(7, func(n *node) { n.Suspend(2 * time.Second) })},
		"a rival is paused":        {b: once(7, func(n *node) { n.Freeze(2 * time.Second) })},
		"a holder is suspended":    {a: once(7, func(n *node) { n.Suspend(2 * time.Second) })},
	} {
		t.Run("LS32/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, b := w.node(), w.node()
				if test.start != nil {
					test.start(b, 0)
				}
				w.holdAndTake(a, b, func(step int) {
					if test.a != nil {
						test.a(a, step)
					}
					if test.b != nil {
						test.b(b, step)
					}
				})
			})
		})
	}
}

func once(at int, f func(n *node)) func(n *node, step int) {
	return func(n *node, step int) {
		if step == at {
			f(n)
		}
	}
}

// LS33: a node that was away for longer than ttl finds its leases expired before any request.
func TestSuspended(t *testing.T) {
	for name, away := range map[string]func(n *node){
		"suspended": func(n *node) { n.Suspend(5 * ttl) }, "wall clock set forward": func(n *node) { n.Step(5 * ttl) },
	} {
		t.Run("LS33/"+name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				a, b := w.node(), w.node()
				lease := a.acquire(1, "a")
				a.Path.Reset()
				away(a)
				if left := lease.Remaining(); left != 0 || a.Path.Count("") != 0 {
					w.Errorf("%v left after %d requests", left, a.Path.Count(""))
				}
				time.Sleep(ttl + graceOfExpiry)
				b.acquire(1, "b")
				if renewed := a.renew("a", 1); len(renewed) != 0 {
					w.Errorf("renewed %v", renewed)
				}
				a.refused(1, "a")
			})
		})
	}
}
