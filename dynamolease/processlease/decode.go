package processlease

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
)

// No row of ours is as large, whatever the node's name. A larger one was written by something else.
const (
	maxHeadSize  = 1024
	maxFenceSize = 2048
)

// decodeHead reads the head of a node. An empty row is no head.
func decodeHead(node string, row item) (head, error) {
	if len(row) == 0 {
		return head{}, nil
	}
	d := newDecoder(headKey(node), row, maxHeadSize)
	d.belongsTo(node)
	d.without(attrTTL)
	h := head{
		Lease: d.lease(node, row),
		lasts: time.Duration(d.upTo(row, attrLasts, uint64(maxTTL.Milliseconds()))) * time.Millisecond,
		rev:   d.text(row, attrRev),
	}
	if d.err != nil {
		return head{}, d.err
	}
	return h, nil
}

// decodeFence reads a fence of a node, which must be one that a takeover can have written at this key.
func decodeFence(k key, node string, row item) (Fence, error) {
	d := newDecoder(k, row, maxFenceSize)
	d.belongsTo(node)
	d.only(attrPK, attrSK, attrNode, attrPredecessor, attrSuccessor, attrTTL)
	f := Fence{Predecessor: d.lease(node, d.record(attrPredecessor)), Successor: d.lease(node, d.record(attrSuccessor))}
	if d.err != nil {
		return Fence{}, d.err
	}
	if err := f.Validate(); err != nil {
		return Fence{}, fmt.Errorf("row %s / %s: %w", k.pk, k.sk, err)
	}
	if k != predecessorKey(node, f.Predecessor.Owner) && k != successorKey(node, f.Successor.Term) {
		return Fence{}, malformed(k, attrSK, "does not fit the fence in the row")
	}
	return f, nil
}

// A decoder keeps the first thing that is wrong with a row.
type decoder struct {
	key key
	row item
	err error
}

func newDecoder(k key, row item, maxSize int) *decoder {
	d := &decoder{key: k, row: row}
	if n := size(row); n > maxSize {
		d.fail("*", fmt.Sprintf("take %d bytes, at most %d are allowed", n, maxSize))
	}
	return d
}

func (d *decoder) fail(attribute, problem string) {
	if d.err == nil {
		d.err = malformed(d.key, attribute, problem)
	}
}

// belongsTo finds rows that were copied from another node.
func (d *decoder) belongsTo(node string) {
	if name := d.text(d.row, attrNode); name != "" && name != node {
		d.fail(attrNode, "is that of another node: "+strconv.Quote(name))
	}
}

func (d *decoder) without(attribute string) {
	if _, ok := d.row[attribute]; ok {
		d.fail(attribute, "must not be there: the term would start again")
	}
}

func (d *decoder) only(allowed ...string) {
	for attribute := range d.row {
		if !slices.Contains(allowed, attribute) {
			d.fail(attribute, "is unknown")
		}
	}
}

// lease reads the attributes of a lease, from a row or from a record in it.
func (d *decoder) lease(node string, from item) Lease {
	return Lease{
		Node:      node,
		Owner:     d.owner(from),
		Term:      d.upTo(from, attrTerm, math.MaxUint64),
		Seq:       d.upTo(from, attrSeq, math.MaxUint64),
		ExpiresAt: time.UnixMilli(int64(d.upTo(from, attrExp, math.MaxInt64))).UTC(),
		Resigned:  d.mark(from, attrResigned),
	}
}

func (d *decoder) text(from item, attribute string) string {
	value, ok := from[attribute].(*types.AttributeValueMemberS)
	if !ok || value.Value == "" {
		d.fail(attribute, "is not a string, or empty")
		return ""
	}
	return value.Value
}

// owner accepts only the form that is written: a fence is found by it.
func (d *decoder) owner(from item) uuid.UUID {
	s := d.text(from, attrOwner)
	owner, err := uuid.Parse(s)
	if err != nil || owner == uuid.Nil || owner.String() != s {
		d.fail(attrOwner, "is not a UUID in its canonical form, or nil")
	}
	return owner
}

// upTo reads a whole number from 1 to limit.
func (d *decoder) upTo(from item, attribute string, limit uint64) uint64 {
	value, ok := from[attribute].(*types.AttributeValueMemberN)
	if !ok {
		d.fail(attribute, "is not a number")
		return 0
	}
	n, err := strconv.ParseUint(value.Value, 10, 64)
	if err != nil || n == 0 || n > limit {
		d.fail(attribute, fmt.Sprintf("is not a whole number from 1 to %d: %q", limit, value.Value))
	}
	return n
}

// mark reads an attribute that is true if it is there.
func (d *decoder) mark(from item, attribute string) bool {
	value, there := from[attribute]
	if !there {
		return false
	}
	if mark, ok := value.(*types.AttributeValueMemberBOOL); !ok || !mark.Value {
		d.fail(attribute, "is neither true nor absent")
	}
	return true
}

func (d *decoder) record(attribute string) item {
	value, ok := d.row[attribute].(*types.AttributeValueMemberM)
	if !ok {
		d.fail(attribute, "is not a record")
		return nil
	}
	return value.Value
}
