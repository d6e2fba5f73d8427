package processlease

import "math"

// A Fence proves that one boot of a node was superseded by another: it holds the last record of the one and the first
// record of the other. It is written in the same transaction as the takeover itself, once, and never changes.
type Fence struct {
	Predecessor Lease `json:"predecessor"` // the last record of the boot that was superseded
	Successor   Lease `json:"successor"`   // the record that superseded it
}

// Validate tells whether the two records can follow upon each other in one takeover: the same node, different owners,
// and both term and seq the next.
func (f Fence) Validate() error {
	if err := f.Predecessor.Validate(); err != nil {
		return err
	}
	if err := f.Successor.Validate(); err != nil {
		return err
	}
	p, s := f.Predecessor, f.Successor
	switch {
	case p.Node != s.Node:
		return invalid("a fence within one node, not from %q to %q", p.Node, s.Node)
	case p.Owner == s.Owner:
		return invalid("a fence between different owners, not from %v to itself", p.Owner)
	case p.Term == math.MaxUint64 || p.Term+1 != s.Term:
		return invalid("a fence from one term to the next, not from %d to %d", p.Term, s.Term)
	case p.Seq == math.MaxUint64 || p.Seq+1 != s.Seq:
		return invalid("a fence from one seq to the next, not from %d to %d", p.Seq, s.Seq)
	}
	return nil
}

// equal compares the records, and their times as times: a fence may have been on a journey as JSON.
func (f Fence) equal(other Fence) bool {
	return f.Predecessor.equal(other.Predecessor) && f.Successor.equal(other.Successor)
}
