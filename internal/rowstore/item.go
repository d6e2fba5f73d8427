package rowstore

import (
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Attributes that every row has: its primary key, and the rev that is new at every write.
const (
	AttrPK  = "pk"
	AttrSK  = "sk"
	AttrRev = "rev"
)

// An Item is a row as the SDK has it. An empty one stands for a row that is not there.
type Item = map[string]types.AttributeValue

// A Key is the primary key of a row.
type Key struct{ PK, SK string }

// Item returns the key as the SDK wants it.
func (k Key) Item() Item { return Item{AttrPK: Text(k.PK), AttrSK: Text(k.SK)} }

// An Attribute is one attribute of a row. Without a value it stands for one that the row lacks.
type Attribute struct {
	Name  string
	Value types.AttributeValue
}

// Text returns a string value.
func Text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// Number returns a number value.
func Number[N int64 | uint64](n N) types.AttributeValue {
	if n < 0 {
		return &types.AttributeValueMemberN{Value: strconv.FormatInt(int64(n), 10)}
	}
	return &types.AttributeValueMemberN{Value: strconv.FormatUint(uint64(n), 10)}
}

// Texts returns a list of strings.
func Texts(list []string) types.AttributeValue {
	values := make([]types.AttributeValue, len(list))
	for i, s := range list {
		values[i] = Text(s)
	}
	return &types.AttributeValueMemberL{Value: values}
}

// Bytes returns a binary value.
func Bytes(b []byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: b} }
