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

// Names of the attributes. exp is for people to read. With ttl (epoch seconds), DynamoDB deletes a
// fence long after its term was superseded. A head never has a ttl.
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

// predecessorKey returns the key of the fence that ended this owner's term.
func predecessorKey(node string, owner uuid.UUID) rowstore.Key {
	return rowstore.Key{PK: "P#" + node, SK: "F#" + owner.String()}
}

// successorKey returns the key of the fence that began this term.
func successorKey(node string, term uint64) rowstore.Key {
	return rowstore.Key{PK: "P#" + node, SK: fmt.Sprintf("T#%020d", term)}
}

func malformed(k rowstore.Key, attribute, problem string) error {
	return fmt.Errorf("%w: %w", ErrInvalid, &dynamolease.RowError{PK: k.PK, SK: k.SK, Attribute: attribute, Problem: problem})
}

// recordAttributes returns the attributes of a record, without its node.
func recordAttributes(l Record) []rowstore.Attribute {
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

// recordValue returns a record as a map, without its node.
func recordValue(l Record) types.AttributeValue {
	record := make(rowstore.Item)
	for _, a := range recordAttributes(l) {
		if a.Value != nil {
			record[a.Name] = a.Value
		}
	}
	return &types.AttributeValueMemberM{Value: record}
}

// No row of this package is larger, whatever the node's name. Another program wrote a larger one.
const (
	maxHeadSize  = 1024
	maxFenceSize = 2048
)

// decode begins to read the row at a key. The row must belong to the node and must not be too
// large.
func decode(k rowstore.Key, node string, row rowstore.Item, maxSize int) *rowstore.Decoder {
	d := rowstore.Decode(row, func(_ rowstore.Key, attribute, problem string) error { return malformed(k, attribute, problem) })
	if n := rowstore.Size(row); n > maxSize {
		d.Fail("*", fmt.Sprintf("take %d bytes, at most %d are allowed", n, maxSize))
	}
	if name := d.Text(attrNode); name != "" && name != node { // somebody copied it from another node
		d.Fail(attrNode, "names another node: "+strconv.Quote(name))
	}
	return d
}

// decodeRecord reads the attributes of a record, from a row or from a map in a row.
func decodeRecord(d *rowstore.Decoder, node string) Record {
	return Record{
		Node:      node,
		Owner:     decodeOwner(d),
		Term:      d.UpTo(attrTerm, math.MaxUint64),
		Seq:       d.UpTo(attrSeq, math.MaxUint64),
		ExpiresAt: time.UnixMilli(d.Positive(attrExp)).UTC(),
		Resigned:  d.Mark(attrResigned),
	}
}

// decodeOwner accepts only the form that this package writes, because the key of a fence has that
// form in it.
func decodeOwner(d *rowstore.Decoder) uuid.UUID {
	s := d.Text(attrOwner)
	owner, err := uuid.Parse(s)
	if err != nil || owner == uuid.Nil || owner.String() != s {
		d.Fail(attrOwner, "must be a UUID in canonical form, and not nil")
	}
	return owner
}
