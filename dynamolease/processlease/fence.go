package processlease

import (
	"fmt"
	"math"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// A Fence proves that one boot of a node was superseded by another. It holds the last record of the
// former boot and the first record of the latter. The transaction of the takeover itself writes it,
// once, and it never changes.
type Fence struct {
	Predecessor Record `json:"predecessor"` // the last record of the boot that was superseded
	Successor   Record `json:"successor"`   // the record that superseded it
}

// Validate returns an error unless one takeover can lead from the one record to the other: one
// node, different owners, and both term and seq grow by one.
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
		return invalid("a fence must be within one node, not from %q to %q", p.Node, s.Node)
	case p.Owner == s.Owner:
		return invalid("a fence must be between different owners, not from %v to itself", p.Owner)
	case p.Term == math.MaxUint64 || p.Term+1 != s.Term:
		return invalid("a fence must lead from one term to the next, not from %d to %d", p.Term, s.Term)
	case p.Seq == math.MaxUint64 || p.Seq+1 != s.Seq:
		return invalid("a fence must lead from one seq to the next, not from %d to %d", p.Seq, s.Seq)
	}
	return nil
}

// equal compares the records, and their expiries as times: a fence may have been encoded as JSON
// and decoded again.
func (f Fence) equal(other Fence) bool {
	return f.Predecessor.equal(other.Predecessor) && f.Successor.equal(other.Successor)
}

// attributes returns a fence without its key. The node is in it only once, so that the longest name
// fits into a write unit.
func (f Fence) attributes() []rowstore.Attribute {
	return []rowstore.Attribute{
		{Name: attrNode, Value: rowstore.Text(f.Predecessor.Node)},
		{Name: attrPredecessor, Value: recordValue(f.Predecessor)},
		{Name: attrSuccessor, Value: recordValue(f.Successor)},
	}
}

// writes returns the writes of a fence under both of its keys. They fail if a row is there.
func (f Fence) writes(rows *rowstore.Table) []types.TransactWriteItem {
	none := rowstore.Condition{Revs: []string{""}}
	node := f.Successor.Node
	return []types.TransactWriteItem{
		{Update: rows.Update(predecessorKey(node, f.Predecessor.Owner), none, f.attributes())},
		{Update: rows.Update(successorKey(node, f.Successor.Term), none, f.attributes())},
	}
}

// decodeFence reads a fence of a node. It accepts only a fence that a takeover can write at this
// key.
func decodeFence(k rowstore.Key, node string, row rowstore.Item) (Fence, error) {
	d := decode(k, node, row, maxFenceSize)
	d.Only(rowstore.AttrPK, rowstore.AttrSK, attrNode, attrPredecessor, attrSuccessor, attrTTL)
	predecessor, successor := d.Map(attrPredecessor), d.Map(attrSuccessor)
	f := Fence{Predecessor: decodeRecord(predecessor, node), Successor: decodeRecord(successor, node)}
	d.Join(predecessor)
	d.Join(successor)
	if d.Err != nil {
		return Fence{}, d.Err
	}
	if err := f.Validate(); err != nil {
		return Fence{}, fmt.Errorf("row %s / %s: %w", k.PK, k.SK, err)
	}
	if k != predecessorKey(node, f.Predecessor.Owner) && k != successorKey(node, f.Successor.Term) {
		return Fence{}, malformed(k, rowstore.AttrSK, "does not fit the fence in the row")
	}
	return f, nil
}
