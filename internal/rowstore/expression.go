package rowstore

import (
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A Condition is what must hold of a row for a write of it to happen: all that is set.
type Condition struct {
	Revs   []string    // the row's rev is one of these, where "" stands for a row that is not there
	Equal  []Attribute // the row has these attributes, and lacks those without a value
	AnyOf  Choice      // of one attribute; none without a name
	Exists bool        // the row is there
}

// A Choice is the texts that an attribute may have; "" stands for a row that lacks it.
type Choice struct {
	Name   string
	Values []string
}

// An expression is the text of a conditional write, and what its placeholders stand for.
type expression struct {
	update    string
	condition string
	names     map[string]string
	values    Item
}

// newExpression writes attributes (none for a delete or a check) under a condition. Attributes that
// are not named stay as they are.
func newExpression(attributes []Attribute, c Condition) expression {
	n := len(attributes) + len(c.Equal) + len(c.AnyOf.Values)
	e := expression{names: make(map[string]string, n+1), values: make(Item, n+len(c.Revs))}
	e.update = e.assign(attributes)
	e.condition = e.require(c)
	if len(e.values) == 0 {
		e.values = nil // DynamoDB refuses an empty map
	}
	return e
}

func (e *expression) assign(attributes []Attribute) string {
	var set, remove strings.Builder
	for _, a := range attributes {
		name := e.name(a.Name)
		if a.Value == nil {
			list(&remove, "REMOVE ", ", ").WriteString(name)
			continue
		}
		value := ":" + a.Name
		e.values[value] = a.Value
		list(&set, "SET ", ", ").WriteString(name + " = " + value)
	}
	if set.Len() > 0 && remove.Len() > 0 {
		set.WriteByte(' ')
	}
	return set.String() + remove.String()
}

func (e *expression) require(c Condition) string {
	var all strings.Builder
	if len(c.Revs) > 0 {
		all.WriteString(e.choice(Choice{AttrRev, c.Revs}, AttrPK))
	}
	if c.AnyOf.Name != "" {
		list(&all, "", " AND ").WriteString(e.choice(c.AnyOf, c.AnyOf.Name))
	}
	if c.Exists {
		list(&all, "", " AND ").WriteString("attribute_exists(" + e.name(AttrPK) + ")")
	}
	for _, a := range c.Equal {
		name := e.name(a.Name)
		if a.Value == nil {
			list(&all, "", " AND ").WriteString("attribute_not_exists(" + name + ")")
			continue
		}
		value := ":seen_" + a.Name
		e.values[value] = a.Value
		list(&all, "", " AND ").WriteString(name + " = " + value)
	}
	return all.String()
}

// choice accepts the values of an attribute. For "" it requires that the row lacks another one.
func (e *expression) choice(c Choice, lacks string) string {
	var absent string
	var values strings.Builder
	for i, text := range c.Values {
		if text == "" {
			absent = "attribute_not_exists(" + e.name(lacks) + ")"
			continue
		}
		value := ":seen_" + c.Name + strconv.Itoa(i)
		e.values[value] = Text(text)
		list(&values, e.name(c.Name)+" IN (", ", ").WriteString(value)
	}
	switch {
	case values.Len() == 0:
		return absent
	case absent == "":
		return values.String() + ")"
	default:
		return "(" + absent + " OR " + values.String() + "))"
	}
}

// name returns the placeholder of an attribute: several of ours are reserved words.
func (e *expression) name(attribute string) string {
	placeholder := "#" + attribute
	e.names[placeholder] = attribute
	return placeholder
}

// list writes what goes before the next element: the opening before the first, a separator before
// the others.
func list(b *strings.Builder, opening, separator string) *strings.Builder {
	if b.Len() == 0 {
		b.WriteString(opening)
	} else {
		b.WriteString(separator)
	}
	return b
}

// Update returns a conditional write of one row as an action of a transaction. A refusal brings the
// row along, free of charge.
func (t *Table) Update(k Key, c Condition, attributes []Attribute) *types.Update {
	e := newExpression(attributes, c)
	update := &types.Update{
		TableName: &t.Name, Key: k.Item(), UpdateExpression: &e.update,
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if e.condition != "" {
		update.ConditionExpression = &e.condition
	}
	return update
}

// Delete returns a conditional delete of one row.
func (t *Table) Delete(k Key, c Condition) *types.Delete {
	e := newExpression(nil, c)
	return &types.Delete{
		TableName: &t.Name, Key: k.Item(), ConditionExpression: &e.condition,
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}

// Check returns the condition on a row alone, as an action of a transaction.
func Check(table string, k Key, c Condition) *types.ConditionCheck {
	e := newExpression(nil, c)
	return &types.ConditionCheck{
		TableName: &table, Key: k.Item(), ConditionExpression: &e.condition,
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
	}
}
