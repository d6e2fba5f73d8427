package processlease

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// Names of the attributes. `exp` is for people to read. `ttl` (epoch seconds) lets DynamoDB throw away
// a fence long after its term was superseded; a head never has it.
const (
	attrNode        = "node"
	attrOwner       = "owner"
	attrTerm        = "term"
	attrSeq         = "seq"
	attrExp         = "exp"
	attrLasts       = "lasts" // milliseconds
	attrResigned    = "resigned"
	attrPredecessor = "predecessor"
	attrSuccessor   = "successor"
	attrTTL         = "ttl"
)

// All rows of a node share one partition key.
func headKey(node string) rowstore.Key { return rowstore.Key{PK: "P#" + node, SK: "HEAD"} }

// predecessorKey returns where the fence lies that ended this owner's term.
func predecessorKey(node string, owner uuid.UUID) rowstore.Key {
	return rowstore.Key{PK: "P#" + node, SK: "F#" + owner.String()}
}

// successorKey returns where the fence lies that began this term.
func successorKey(node string, term uint64) rowstore.Key {
	return rowstore.Key{PK: "P#" + node, SK: fmt.Sprintf("T#%020d", term)}
}

func malformed(k rowstore.Key, attribute, problem string) error {
	return fmt.Errorf("%w: %w", ErrInvalid, &dynamolease.RowError{PK: k.PK, SK: k.SK, Attribute: attribute, Problem: problem})
}

// attributes returns a head without its key.
func (h head) attributes() []rowstore.Attribute {
	return append(recordAttributes(h.Lease),
		rowstore.Attribute{Name: attrNode, Value: rowstore.Text(h.Node)},
		rowstore.Attribute{Name: attrLasts, Value: rowstore.Number(uint64(h.lasts.Milliseconds()))},
		rowstore.Attribute{Name: rowstore.AttrRev, Value: rowstore.Text(h.rev)},
	)
}

// attributes returns a fence without its key. The node is there once, which keeps the longest name
// within a write unit.
func (f Fence) attributes() []rowstore.Attribute {
	return []rowstore.Attribute{
		{Name: attrNode, Value: rowstore.Text(f.Predecessor.Node)},
		{Name: attrPredecessor, Value: recordValue(f.Predecessor)},
		{Name: attrSuccessor, Value: recordValue(f.Successor)},
	}
}

func recordAttributes(l Lease) []rowstore.Attribute {
	list := []rowstore.Attribute{
		{Name: attrOwner, Value: rowstore.Text(l.Owner.String())},
		{Name: attrTerm, Value: rowstore.Number(l.Term)},
		{Name: attrSeq, Value: rowstore.Number(l.Seq)},
		{Name: attrExp, Value: rowstore.Number(max(1, l.ExpiresAt.UnixMilli()))},
		{Name: attrResigned},
	}
	if l.Resigned {
		list[4].Value = &types.AttributeValueMemberBOOL{Value: true}
	}
	return list
}

func recordValue(l Lease) types.AttributeValue {
	record := make(rowstore.Item)
	for _, a := range recordAttributes(l) {
		if a.Value != nil {
			record[a.Name] = a.Value
		}
	}
	return &types.AttributeValueMemberM{Value: record}
}

// decodeHead reads the head of a node. An empty row is no head.
func decodeHead(node string, row rowstore.Item) (head, error) {
	if len(row) == 0 {
		return head{}, nil
	}
	d := decode(headKey(node), node, row, maxHeadSize)
	if d.Has(attrTTL) {
		d.Fail(attrTTL, "must not be there: the term would start again")
	}
	h := head{
		Lease: decodeRecord(d, node),
		lasts: time.Duration(d.UpTo(attrLasts, uint64(maxTTL.Milliseconds()))) * time.Millisecond,
		rev:   d.Text(rowstore.AttrRev),
	}
	if d.Err != nil {
		return head{}, d.Err
	}
	return h, nil
}

// decodeFence reads a fence of a node, which must be one that a takeover can have written at this key.
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

// No row of ours is as large, whatever the node's name. A larger one was written by something else.
const (
	maxHeadSize  = 1024
	maxFenceSize = 2048
)

// decode begins to read a row at a key, which must be one of the node and not too large.
func decode(k rowstore.Key, node string, row rowstore.Item, maxSize int) *rowstore.Decoder {
	d := rowstore.Decode(row, func(_ rowstore.Key, attribute, problem string) error { return malformed(k, attribute, problem) })
	if n := rowstore.Size(row); n > maxSize {
		d.Fail("*", fmt.Sprintf("take %d bytes, at most %d are allowed", n, maxSize))
	}
	if name := d.Text(attrNode); name != "" && name != node { // it was copied from another node
		d.Fail(attrNode, "is that of another node: "+strconv.Quote(name))
	}
	return d
}

// decodeRecord reads the attributes of a record, from a row or from a map in it.
func decodeRecord(d *rowstore.Decoder, node string) Lease {
	return Lease{
		Node:      node,
		Owner:     decodeOwner(d),
		Term:      d.UpTo(attrTerm, math.MaxUint64),
		Seq:       d.UpTo(attrSeq, math.MaxUint64),
		ExpiresAt: time.UnixMilli(d.Positive(attrExp)).UTC(),
		Resigned:  d.Mark(attrResigned),
	}
}

// decodeOwner accepts only the form that is written: a fence is found by it.
func decodeOwner(d *rowstore.Decoder) uuid.UUID {
	s := d.Text(attrOwner)
	owner, err := uuid.Parse(s)
	if err != nil || owner == uuid.Nil || owner.String() != s {
		d.Fail(attrOwner, "is not a UUID in its canonical form, or nil")
	}
	return owner
}
