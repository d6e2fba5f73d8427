package testkit

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Row makes a row of a table out of any text, for fuzz tests of what reads rows. Each line is an attribute: its name, its
// type as DynamoDB calls it, and its value, with single spaces between.
//
//	pk S L#orders
//	epoch N 7
//	groups L a,b
//	successor.term N 8
//
// A dot in a name makes a record within the row. A list
// has strings as its elements; see List for others. Lines that say nothing of the kind are left out.
func Row(text string) map[string]types.AttributeValue {
	row := make(map[string]types.AttributeValue)
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		kind, value, _ := strings.Cut(rest, " ")
		if v := attribute(kind, value); v != nil && !slices.Contains(strings.Split(name, "."), "") {
			put(row, name, v)
		}
	}
	return row
}

func attribute(kind, value string) types.AttributeValue {
	elements := strings.Split(value, ",")
	if value == "" {
		elements = nil
	}
	switch kind {
	case "S":
		return &types.AttributeValueMemberS{Value: value}
	case "N":
		return &types.AttributeValueMemberN{Value: value}
	case "B":
		return &types.AttributeValueMemberB{Value: []byte(value)}
	case "BOOL":
		return &types.AttributeValueMemberBOOL{Value: value == "true"}
	case "NULL":
		return &types.AttributeValueMemberNULL{Value: true}
	case "M":
		return &types.AttributeValueMemberM{Value: make(map[string]types.AttributeValue)}
	case "SS":
		return &types.AttributeValueMemberSS{Value: elements}
	case "NS":
		return &types.AttributeValueMemberNS{Value: elements}
	case "L":
		list := make([]types.AttributeValue, len(elements))
		for i, element := range elements {
			list[i] = &types.AttributeValueMemberS{Value: element}
		}
		return &types.AttributeValueMemberL{Value: list}
	}
	return nil
}

// put sets an attribute of the row, or of a record in it.
func put(row map[string]types.AttributeValue, name string, value types.AttributeValue) {
	outer, inner, nested := strings.Cut(name, ".")
	if !nested {
		row[name] = value
		return
	}
	record, ok := row[outer].(*types.AttributeValueMemberM)
	if !ok {
		record = &types.AttributeValueMemberM{Value: make(map[string]types.AttributeValue)}
		row[outer] = record
	}
	put(record.Value, inner, value)
}

// List is the values of a row, in the order of their names.
func List(row map[string]types.AttributeValue) types.AttributeValue {
	list := make([]types.AttributeValue, 0, len(row))
	for _, name := range slices.Sorted(maps.Keys(row)) {
		list = append(list, row[name])
	}
	return &types.AttributeValueMemberL{Value: list}
}
