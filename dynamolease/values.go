package dynamolease

import (
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type item = map[string]types.AttributeValue

func stringValue(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func numberValue(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func stringsValue(list []string) types.AttributeValue {
	values := make([]types.AttributeValue, len(list))
	for i, s := range list {
		values[i] = stringValue(s)
	}
	return &types.AttributeValueMemberL{Value: values}
}

// A decoder reads the attributes of one row and keeps the first thing that is wrong with it.
type decoder struct {
	key  key
	item item
	err  error
}

// decode starts at the row's own key, which must be the expected kind.
func decode(row item) decoder {
	d := decoder{item: row}
	d.key = key{d.text(attrPK), d.text(attrSK)}
	return d
}

func (d *decoder) fail(attribute, problem string) {
	if d.err == nil {
		d.err = d.key.malformed(attribute, problem)
	}
}

func (d *decoder) has(attribute string) bool {
	_, ok := d.item[attribute]
	return ok
}

// text reads a string that must be there and not be empty.
func (d *decoder) text(attribute string) string {
	value, ok := d.item[attribute].(*types.AttributeValueMemberS)
	switch {
	case !d.has(attribute):
		d.fail(attribute, "is missing")
	case !ok:
		d.fail(attribute, "is not a string")
	case value.Value == "":
		d.fail(attribute, "is empty")
	default:
		return value.Value
	}
	return ""
}

// positive reads a whole number above zero that fits an int64.
func (d *decoder) positive(attribute string) int64 {
	value, ok := d.item[attribute].(*types.AttributeValueMemberN)
	switch {
	case !d.has(attribute):
		d.fail(attribute, "is missing")
		return 0
	case !ok:
		d.fail(attribute, "is not a number")
		return 0
	}
	n, err := strconv.ParseInt(value.Value, 10, 64)
	if err != nil || n <= 0 {
		d.fail(attribute, "is not a whole number from 1 to 2^63-1: "+strconv.Quote(value.Value))
		return 0
	}
	return n
}

// bytes reads a binary value, which may be missing.
func (d *decoder) bytes(attribute string) []byte {
	if !d.has(attribute) {
		return nil
	}
	value, ok := d.item[attribute].(*types.AttributeValueMemberB)
	if !ok {
		d.fail(attribute, "is not binary")
		return nil
	}
	return value.Value
}

// texts reads a list of strings, which may be missing or empty.
func (d *decoder) texts(attribute string) []string {
	if !d.has(attribute) {
		return nil
	}
	list, ok := d.item[attribute].(*types.AttributeValueMemberL)
	if !ok {
		d.fail(attribute, "is not a list")
		return nil
	}
	var texts []string
	for _, value := range list.Value {
		s, ok := value.(*types.AttributeValueMemberS)
		if !ok {
			d.fail(attribute, "holds something other than strings")
			return nil
		}
		texts = append(texts, s.Value)
	}
	return texts
}
