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
	fence *Fence // with a takeover
	start elapsed.Reading
}

// A memory holds what a store wrote last, so that a renewal needs no read before it, and the attempts that were never
// answered, so that it knows its own work when it meets it. Nothing is decided from it without a compare-and-set.
type memory struct {
	mu         sync.Mutex
	last       head
	unanswered []attempt
}

// maxUnanswered bounds what an outage can pile up. A write of ours that was forgotten looks like any other by the same
// owner: the next one builds on it.
const maxUnanswered = 64

// recall returns the head that was written last for owner, if any.
func (m *memory) recall(owner uuid.UUID) (head, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last, m.last.exists() && m.last.Owner == owner
}

// keep takes in a head that this store has written. Attempts that built on earlier ones can never be applied now.
func (m *memory) keep(h head) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last, m.unanswered = h, nil
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
	m.unanswered = append(m.unanswered, a)
	if n := len(m.unanswered); n > maxUnanswered {
		m.unanswered = slices.Clone(m.unanswered[n-maxUnanswered:])
	}
}

// find returns the unanswered attempt that left h as it is.
func (m *memory) find(h head) (attempt, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range m.unanswered {
		if a.next.rev == h.rev {
			return a, true
		}
	}
	return attempt{}, false
}
