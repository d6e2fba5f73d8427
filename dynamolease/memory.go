package dynamolease

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// A record is one kind of row.
type record[R any] interface {
	revision() string // "" for a row that is not there
	revised(rev string) R
	supersedes(R) bool // it can take the place of one that a write of the same holder may have left
	attributes() []attribute
}

// A sighting is a row as it was seen, and the revs that writes of ours, which were never answered, would have left it
// with or may leave it with yet.
type sighting[R record[R]] struct {
	row        R
	unanswered []unanswered[R]
}

// An unanswered is a write that may have been applied, or may be yet.
type unanswered[R record[R]] struct {
	row R
	by  holder // for whom it was made; the zero holder for what is not a lease
}

// accepted are the revs that the row may have for a write of next, made for a holder, that is based on this sighting. What
// may have been written for somebody else is not among them, nor what next cannot take the place of: there the write is to
// be refused, and to be thought over with the row that comes along.
func (s sighting[R]) accepted(next R, by holder) []string {
	revs := []string{s.row.revision()}
	for _, u := range s.unanswered {
		if u.by == by && next.supersedes(u.row) {
			revs = append(revs, u.row.revision())
		}
	}
	return revs
}

// doubtful tells whether a write for this holder was never answered.
func (s sighting[R]) doubtful(by holder) bool {
	return slices.ContainsFunc(s.unanswered, func(u unanswered[R]) bool { return u.by == by })
}

// expects tells whether the row may have this rev, if nobody else has written it.
func (s sighting[R]) expects(rev string) bool {
	return rev == s.row.revision() || slices.ContainsFunc(s.unanswered, func(u unanswered[R]) bool { return u.row.revision() == rev })
}

// maxUnanswered bounds what an outage can pile up: a condition takes at most 100 operands. A rev that was dropped costs
// a refusal, which brings the row along, and nothing else.
const maxUnanswered = 40

// add notes that a write was not answered.
func (s *sighting[R]) add(row R, by holder) {
	s.unanswered = append(slices.Clip(s.unanswered), unanswered[R]{row, by})
	if n := len(s.unanswered); n > maxUnanswered {
		s.unanswered = s.unanswered[n-maxUnanswered:]
	}
}

// see replaces the row by a later view of it. When its rev is neither the former one nor that of an unanswered write,
// those writes can never be applied any more: each was conditional on one of these revs.
func (s *sighting[R]) see(row R) {
	if !s.expects(row.revision()) {
		s.unanswered = nil
	}
	s.row = row
}

// A memory holds the rows that a store has written last, so that the next write of each needs no read before it.
// Nothing is decided from it without a compare-and-set: a row that changed since only costs a request more.
type memory[R record[R]] struct {
	mu   sync.Mutex
	rows map[key]memorized[R]
	full int // sweep when there are as many rows

	// dead tells that a row is of no use any more, at the latest time that the store's clock may show.
	dead func(row R, latest int64) bool
}

type memorized[R record[R]] struct {
	sighting[R]
	since int64 // the latest that the store's clock may have shown, in milliseconds
}

const (
	firstSweep = 1024
	maxLate    = 10 * time.Minute // after which a request is not delivered any more
)

func newMemory[R record[R]](dead func(R, int64) bool) *memory[R] {
	return &memory[R]{rows: make(map[key]memorized[R]), full: firstSweep, dead: dead}
}

func (m *memory[R]) recall(k key) (sighting[R], bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.rows[k]
	return s.sighting, ok
}

func (m *memory[R]) keep(k key, s sighting[R], at moment) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rows[k] = memorized[R]{s, at.latest()}
	if len(m.rows) >= m.full {
		m.sweep(at)
	}
}

func (m *memory[R]) forget(k key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.rows, k)
}

// doubtful are the keys of one partition key that begin with prefix and may be written by an unanswered write.
func (m *memory[R]) doubtful(pk, prefix string) []key {
	m.mu.Lock()
	defer m.mu.Unlock()
	var keys []key
	for k, s := range m.rows {
		if k.pk == pk && strings.HasPrefix(k.sk, prefix) && len(s.unanswered) > 0 {
			keys = append(keys, k)
		}
	}
	return keys
}

// sweep drops what has run out, so that a store that acquires other partitions for ever does not grow for ever.
func (m *memory[R]) sweep(at moment) {
	for k, s := range m.rows {
		late := len(s.unanswered) > 0 && at.latest()-s.since < maxLate.Milliseconds()
		if m.dead(s.row, at.latest()) && !late {
			delete(m.rows, k)
		}
	}
	m.full = max(firstSweep, 2*len(m.rows))
}
