package processlease

import (
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/internal/elapsed"
)

// An attempt is one write of a head.
type attempt struct {
	base  head // the head that was seen; the write happens only if it is still that one
	next  head
	fence *Fence // how next's term began: with the takeover itself, and with the next write where its answer was lost
	start elapsed.Reading
	by    any // the call, or the Manager that makes one call after the other
}

// takesOver tells whether the fence is written with it.
func (a attempt) takesOver() bool { return a.base.exists() && a.base.Term < a.next.Term }

// A memory holds what a store wrote last, so that a renewal needs no read before it, and the attempts that are not known
// to be applied, so that it knows its own work when it meets it. Nothing is decided from it without a compare-and-set.
type memory struct {
	mu   sync.Mutex
	last head
	open []attempt
}

// maxOpen bounds what an outage can pile up. A write of ours that was forgotten looks like any other by the same
// owner: the next one builds on it.
const maxOpen = 64

// recall returns the head that was written last for owner, if any.
func (m *memory) recall(owner uuid.UUID) (head, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last, m.last.exists() && m.last.Owner == owner
}

// keep takes in a head that this store has written. Attempts that built on earlier ones will not be met any more.
func (m *memory) keep(h head) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = h
	m.open = slices.DeleteFunc(m.open, func(a attempt) bool { return a.next.Seq <= h.Seq })
}

// forget takes in that the head is not owner's.
func (m *memory) forget(owner uuid.UUID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last.Owner == owner {
		m.last = head{}
	}
}

func (m *memory) add(a attempt) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open = append(m.open, a)
	if n := len(m.open); n > maxOpen {
		m.open = slices.Clone(m.open[n-maxOpen:])
	}
}

// drop takes in that an attempt was turned away.
func (m *memory) drop(a attempt) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open = slices.DeleteFunc(m.open, func(o attempt) bool { return o.next.rev == a.next.rev })
}

// find returns the attempt that left h as it is, if its answer was lost.
func (m *memory) find(h head) (attempt, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range m.open {
		if a.next.rev == h.rev {
			return a, true
		}
	}
	return attempt{}, false
}
