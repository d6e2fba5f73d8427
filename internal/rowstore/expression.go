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
	Exists bool        // the row is there
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
	n := len(attributes) + len(c.Equal)
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
	if len(c.Equal) == 0 && !c.Exists {
		return e.revs(c.Revs)
	}
	var all strings.Builder
	if len(c.Revs) > 0 {
		all.WriteString("(" + e.revs(c.Revs) + ")")
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

func (e *expression) revs(accepted []string) string {
	var absent string
	var revs strings.Builder
	for i, rev := range accepted {
		if rev == "" {
			absent = "attribute_not_exists(" + e.name(AttrPK) + ")"
			continue
		}
		value := ":seen" + strconv.Itoa(i)
		e.values[value] = Text(rev)
		list(&revs, e.name(AttrRev)+" IN (", ", ").WriteString(value)
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
