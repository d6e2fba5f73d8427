package dynamolease

import (
	"slices"
	"sync"
)

// A record is one kind of row.
type record[R any] interface {
	revision() string // "" for a row that is not there
	revised(rev string) R
	attributes() []attribute
}

// A sighting is a row as it was seen, and the revs that writes of ours, which were never answered, would have left it
// with or may leave it with yet.
type sighting[R record[R]] struct {
	row        R
	unanswered []string
}

// accepted are the revs that the row may have for a write that is based on this sighting.
func (s sighting[R]) accepted() []string {
	return append([]string{s.row.revision()}, s.unanswered...)
}

// maxUnanswered bounds what an outage can pile up: a condition takes at most 100 operands. A rev that was dropped costs
// a refusal, which brings the row along, and nothing else.
const maxUnanswered = 40

// add notes that a write with this rev was not answered.
func (s *sighting[R]) add(rev string) {
	s.unanswered = append(slices.Clip(s.unanswered), rev)
	if n := len(s.unanswered); n > maxUnanswered {
		s.unanswered = s.unanswered[n-maxUnanswered:]
	}
}

// see replaces the row by a later view of it. When its rev is neither the former one nor that of an unanswered write,
// those writes can never be applied any more: each was conditional on one of these revs.
func (s *sighting[R]) see(row R) {
	if !slices.Contains(s.accepted(), row.revision()) {
		s.unanswered = nil
	}
	s.row = row
}

// A memory holds the rows that a store has written last, so that the next write of each needs no read before it.
// Nothing is decided from it without a compare-and-set: a row that changed since only costs a request more.
type memory[R record[R]] struct {
	mu   sync.Mutex
	rows map[key]sighting[R]
	full int // sweep when there are as many rows

	// dead tells that a row is of no use any more, at the latest time that the store's clock may show.
	dead func(row R, latest int64) bool
}

const firstSweep = 1024

func newMemory[R record[R]](dead func(R, int64) bool) *memory[R] {
	return &memory[R]{rows: make(map[key]sighting[R]), full: firstSweep, dead: dead}
}

func (m *memory[R]) recall(k key) (sighting[R], bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.rows[k]
	return s, ok
}

func (m *memory[R]) keep(k key, s sighting[R], at moment) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rows[k] = s
	if len(m.rows) >= m.full {
		m.sweep(at)
	}
}

func (m *memory[R]) forget(k key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.rows, k)
}

// sweep drops what has run out, so that a store that acquires other partitions for ever does not grow for ever.
func (m *memory[R]) sweep(at moment) {
	for k, s := range m.rows {
		if m.dead(s.row, at.latest()) {
			delete(m.rows, k)
		}
	}
	m.full = max(firstSweep, 2*len(m.rows))
}
