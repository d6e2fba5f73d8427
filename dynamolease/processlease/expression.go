package processlease

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// An expression is the text of a conditional update with what its placeholders stand for. (Names have placeholders since
// several of ours are reserved words.)
type expression struct {
	assign, drop, condition []string
	names                   map[string]string
	values                  item
}

// newExpression sets attributes. Those that are not named stay as they are.
func newExpression(attributes item) *expression {
	e := &expression{names: make(map[string]string), values: make(item)}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		e.assign = append(e.assign, e.name(name)+" = "+e.value(":"+name, attributes[name]))
	}
	return e
}

func (e *expression) remove(attribute string) { e.drop = append(e.drop, e.name(attribute)) }

// requireEqual adds the condition that the row has these attributes.
func (e *expression) requireEqual(attributes item) {
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		e.condition = append(e.condition, e.name(name)+" = "+e.value(":seen_"+name, attributes[name]))
	}
}

// requireAbsent adds the condition that the row lacks an attribute; with that of its key, that there is no such row.
func (e *expression) requireAbsent(attribute string) {
	e.condition = append(e.condition, "attribute_not_exists("+e.name(attribute)+")")
}

func (e *expression) requirePresent(attribute string) {
	e.condition = append(e.condition, "attribute_exists("+e.name(attribute)+")")
}

func (e *expression) name(attribute string) string {
	e.names["#"+attribute] = attribute
	return "#" + attribute
}

func (e *expression) value(placeholder string, value types.AttributeValue) string {
	e.values[placeholder] = value
	return placeholder
}

// update applies the expression to a row of a table. A refusal brings the row along, free of charge.
func (e *expression) update(table string, k key) *types.Update {
	set := "SET " + strings.Join(e.assign, ", ")
	if len(e.drop) > 0 {
		set += " REMOVE " + strings.Join(e.drop, ", ")
	}
	condition := strings.Join(e.condition, " AND ")
	return &types.Update{
		TableName: &table, Key: k.attributes(), UpdateExpression: &set, ConditionExpression: &condition,
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}
