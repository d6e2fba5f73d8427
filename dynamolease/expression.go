package dynamolease

import (
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// An attribute is one attribute of a row as it is to be; without a value it is to be removed.
type attribute struct {
	name  string
	value types.AttributeValue
}

// An expression is the text of a conditional write with what its placeholders stand for.
type expression struct {
	update    string
	condition string
	names     map[string]string
	values    map[string]types.AttributeValue
}

// newExpression writes attributes (none for a delete) on the condition that the row's rev is one of accepted, where ""
// stands for a row that is not there. Attributes that are not named stay as they are.
func newExpression(attributes []attribute, accepted []string) expression {
	e := expression{names: make(map[string]string, len(attributes)+1), values: make(map[string]types.AttributeValue, len(attributes)+len(accepted))}
	e.update = e.assign(attributes)
	e.condition = e.require(accepted)
	if len(e.values) == 0 {
		e.values = nil // DynamoDB refuses an empty map
	}
	return e
}

func (e *expression) assign(attributes []attribute) string {
	var set, remove strings.Builder
	for _, a := range attributes {
		name := e.name(a.name)
		if a.value == nil {
			list(&remove, "REMOVE ").WriteString(name)
			continue
		}
		value := ":" + a.name
		e.values[value] = a.value
		list(&set, "SET ").WriteString(name + " = " + value)
	}
	if set.Len() > 0 && remove.Len() > 0 {
		set.WriteByte(' ')
	}
	return set.String() + remove.String()
}

func (e *expression) require(accepted []string) string {
	var absent string
	var revs strings.Builder
	for i, rev := range accepted {
		if rev == "" {
			absent = "attribute_not_exists(" + e.name(attrPK) + ")"
			continue
		}
		value := ":seen" + strconv.Itoa(i)
		e.values[value] = stringValue(rev)
		list(&revs, e.name(attrRev)+" IN (").WriteString(value)
	}
	switch {
	case revs.Len() == 0:
		return absent
	case absent == "":
		return revs.String() + ")"
	default:
		return absent + " OR " + revs.String() + ")"
	}
}

// name is the placeholder of an attribute: several of ours are reserved words.
func (e *expression) name(attribute string) string {
	placeholder := "#" + attribute
	e.names[placeholder] = attribute
	return placeholder
}

// list writes what goes before the next element: the opening before the first, a comma before the others.
func list(b *strings.Builder, opening string) *strings.Builder {
	if b.Len() == 0 {
		b.WriteString(opening)
	} else {
		b.WriteString(", ")
	}
	return b
}
