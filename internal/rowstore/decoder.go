package rowstore

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A Decoder reads the attributes of one row. It keeps the first thing that is wrong with them.
type Decoder struct {
	Key Key
	Err error // what malformed made of the first problem; nil for none

	item      Item
	within    string // the map that the attributes are in; empty for the row itself
	malformed func(k Key, attribute, problem string) error
}

// Decode begins to read a row with its own key. malformed makes the error of a row that cannot be
// read.
func Decode(row Item, malformed func(k Key, attribute, problem string) error) *Decoder {
	d := &Decoder{item: row, malformed: malformed}
	d.Key = Key{d.Text(AttrPK), d.Text(AttrSK)}
	return d
}

// Fail notes a problem with an attribute, if it is the first.
func (d *Decoder) Fail(attribute, problem string) {
	if d.Err == nil {
		d.Err = d.malformed(d.Key, d.within+attribute, problem)
	}
}

// Has reports whether the row has an attribute.
func (d *Decoder) Has(attribute string) bool {
	_, ok := d.item[attribute]
	return ok
}

// Text reads a string that must be there and not be empty.
func (d *Decoder) Text(attribute string) string {
	value, ok := d.item[attribute].(*types.AttributeValueMemberS)
	switch {
	case !d.Has(attribute):
		d.Fail(attribute, "is missing")
	case !ok:
		d.Fail(attribute, "is not a string")
	case value.Value == "":
		d.Fail(attribute, "is empty")
	default:
		return value.Value
	}
	return ""
}

// Positive reads a whole number above zero that fits an int64.
func (d *Decoder) Positive(attribute string) int64 { return int64(d.UpTo(attribute, math.MaxInt64)) }

// UpTo reads a whole number from 1 to limit.
func (d *Decoder) UpTo(attribute string, limit uint64) uint64 {
	value, ok := d.item[attribute].(*types.AttributeValueMemberN)
	switch {
	case !d.Has(attribute):
		d.Fail(attribute, "is missing")
		return 0
	case !ok:
		d.Fail(attribute, "is not a number")
		return 0
	}
	n, err := strconv.ParseUint(value.Value, 10, 64)
	if err != nil || n == 0 || n > limit {
		d.Fail(attribute, fmt.Sprintf("is not a whole number from 1 to %d: %q", limit, value.Value))
		return 0
	}
	return n
}

// Bytes reads a binary value, which may be missing.
func (d *Decoder) Bytes(attribute string) []byte {
	if !d.Has(attribute) {
		return nil
	}
	value, ok := d.item[attribute].(*types.AttributeValueMemberB)
	if !ok {
		d.Fail(attribute, "is not binary")
		return nil
	}
	return value.Value
}

// Texts reads a list of strings, which may be missing or empty.
func (d *Decoder) Texts(attribute string) []string {
	if !d.Has(attribute) {
		return nil
	}
	list, ok := d.item[attribute].(*types.AttributeValueMemberL)
	if !ok {
		d.Fail(attribute, "is not a list")
		return nil
	}
	var texts []string
	for _, value := range list.Value {
		s, ok := value.(*types.AttributeValueMemberS)
		if !ok {
			d.Fail(attribute, "holds something other than strings")
			return nil
		}
		texts = append(texts, s.Value)
	}
	return texts
}

// Mark reads an attribute that is true if it is there.
func (d *Decoder) Mark(attribute string) bool {
	if !d.Has(attribute) {
		return false
	}
	mark, ok := d.item[attribute].(*types.AttributeValueMemberBOOL)
	if !ok || !mark.Value {
		d.Fail(attribute, "is neither true nor absent")
	}
	return true
}

// Map reads the attributes of a map, which must be there. Their problems are those of the row: read
// the map, then call Join.
func (d *Decoder) Map(attribute string) *Decoder {
	value, ok := d.item[attribute].(*types.AttributeValueMemberM)
	if !ok {
		d.Fail(attribute, "is not a map")
		return &Decoder{Key: d.Key, Err: d.Err, malformed: d.malformed}
	}
	return &Decoder{Key: d.Key, Err: d.Err, item: value.Value, within: attribute + ".", malformed: d.malformed}
}

// Join takes over the first problem of a map that was read.
func (d *Decoder) Join(inner *Decoder) {
	if d.Err == nil {
		d.Err = inner.Err
	}
}

// Only fails for an attribute that is none of those allowed.
func (d *Decoder) Only(allowed ...string) {
	for attribute := range d.item {
		if !slices.Contains(allowed, attribute) {
			d.Fail(attribute, "is unknown")
		}
	}
}
