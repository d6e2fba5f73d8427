package rowstore

import "slices"

// A Row is one kind of row.
type Row[R any] interface {
	Rev() string // "" for a row that is not there
	WithRev(rev string) R
	Attributes() []Attribute // what a write sets and removes

	// Requires returns what else a write of the row rests on: attributes that writers change without
	// a new rev. Nil for nothing.
	Requires() []Attribute

	// Supersedes reports whether the row may be written on top of another one, which a pending write
	// for the same writer may have left. False has the write refused if it was applied; the change
	// is then decided anew.
	Supersedes(pending R) bool
}

// A Known is a row as it was last seen, and the writes of ours that are pending: never answered.
// Each of them may have been applied, or may be yet.
type Known[R Row[R]] struct {
	Row     R
	Pending []Pending[R]
}

// A Pending is a write that was never answered.
type Pending[R Row[R]] struct {
	Row R
	At  Moment // when the attempt began
	By  any    // for whom it was made
}

// maxPending bounds what an outage can pile up: a condition takes at most 100 operands. A rev that
// was dropped costs a refusal, which brings the row along, and nothing else.
const maxPending = 64

// RevIn returns the condition for a write of next by a writer: the row is as it was seen, or as a
// pending write of the same writer has left it, if next supersedes that. Any other pending write
// has the write refused, so that it is thought over with the row that comes along.
func (k Known[R]) RevIn(next R, by any) Condition {
	revs := []string{k.Row.Rev()}
	for _, p := range k.Pending {
		if p.By == by && next.Supersedes(p.Row) {
			revs = append(revs, p.Row.Rev())
		}
	}
	return Condition{Revs: revs, Equal: next.Requires()}
}

// PendingBy reports whether a write of this writer is pending.
func (k Known[R]) PendingBy(by any) bool {
	return slices.ContainsFunc(k.Pending, func(p Pending[R]) bool { return p.By == by })
}

// PendingRev returns the pending write that leaves the row with this rev.
func (k Known[R]) PendingRev(rev string) (Pending[R], bool) {
	if i := slices.IndexFunc(k.Pending, func(p Pending[R]) bool { return p.Row.Rev() == rev }); i >= 0 {
		return k.Pending[i], true
	}
	return Pending[R]{}, false
}

// Add notes that a write was not answered.
func (k *Known[R]) Add(row R, at Moment, by any) {
	k.Pending = append(slices.Clip(k.Pending), Pending[R]{row, at, by})
	if n := len(k.Pending); n > maxPending {
		k.Pending = k.Pending[n-maxPending:]
	}
}

// See replaces the row by a later view of it. If its rev is neither the former one nor that of a
// pending write, no pending write can be applied any more: each was conditional on one of these
// revs.
func (k *Known[R]) See(row R) {
	if _, pending := k.PendingRev(row.Rev()); row.Rev() != k.Row.Rev() && !pending {
		k.Pending = nil
	}
	k.Row = row
}
