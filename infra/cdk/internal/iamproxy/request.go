package iamproxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// account is the account and the Region of all tables, for policies.
const account = "arn:aws:dynamodb:us-east-1:123456789012:table/"

// TableARN returns the ARN that a policy must use for a table.
func TableARN(table string) string { return account + table }

// A need is an action that a policy must allow for a request.
type need struct {
	action   string
	resource string
	keys     []string // the partition keys that it names; none for a Scan, or a table as a whole
}

func (n need) String() string {
	if len(n.keys) == 0 {
		return fmt.Sprintf("%s on %s without a leading key", n.action, n.resource)
	}
	return fmt.Sprintf("%s on %s with leading keys %q", n.action, n.resource, n.keys)
}

// A value is the value of an attribute.
type value struct{ S *string }

type row map[string]value

// An action is a request, or a part of one, that names a row or a table.
type action struct {
	TableName, IndexName      string
	Key, Item                 row
	KeyConditionExpression    string
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues row
}

// needs lists what a request needs. A transaction needs what its parts would need alone: there is
// no permission for transactions. A batch needs the permission for batches.
func needs(operation string, body []byte, partitionKey string) ([]need, error) {
	p := parser{partitionKey}
	switch operation {
	case "GetItem", "UpdateItem", "DeleteItem", "PutItem", "Query", "Scan":
		var a action
		if err := json.Unmarshal(body, &a); err != nil {
			return nil, err
		}
		n, err := p.need(operation, a)
		return []need{n}, err
	case "TransactWriteItems", "TransactGetItems":
		return p.transaction(body)
	case "BatchGetItem", "BatchWriteItem":
		return p.batch(operation, body)
	case "DescribeTable", "DescribeTimeToLive", "CreateTable", "UpdateTable", "UpdateTimeToLive", "DeleteTable":
		var a action
		err := json.Unmarshal(body, &a)
		return []need{{action: service + operation, resource: resource(a.TableName, "")}}, err
	}
	return nil, fmt.Errorf("the operation %s is not known", operation)
}

// A parser finds the partition keys that requests name.
type parser struct{ partitionKey string }

func (p parser) need(operation string, a action) (need, error) {
	n := need{action: service + operation, resource: resource(a.TableName, a.IndexName)}
	if operation == "Scan" {
		return n, nil
	}
	key, err := p.key(operation, a)
	n.keys = []string{key}
	return n, err
}

func (p parser) key(operation string, a action) (string, error) {
	switch operation {
	case "Query":
		return p.queried(a)
	case "PutItem":
		return text(a.Item[p.partitionKey])
	default:
		return text(a.Key[p.partitionKey])
	}
}

var equality = regexp.MustCompile(`^\s*\(?\s*([#\w]+)\s*=\s*(:\w+)\s*\)?\s*$`)

// queried returns the partition key of a Query.
func (p parser) queried(a action) (string, error) {
	for _, term := range strings.Split(a.KeyConditionExpression, " AND ") {
		sides := equality.FindStringSubmatch(term)
		if sides == nil {
			continue
		}
		name := sides[1]
		if strings.HasPrefix(name, "#") {
			name = a.ExpressionAttributeNames[name]
		}
		if name == p.partitionKey {
			return text(a.ExpressionAttributeValues[sides[2]])
		}
	}
	return "", fmt.Errorf("the key condition %q is not known", a.KeyConditionExpression)
}

func (p parser) transaction(body []byte) ([]need, error) {
	var in struct{ TransactItems []map[string]action }
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	operations := map[string]string{
		"Get": "GetItem", "Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem",
	}
	var list []need
	for _, item := range in.TransactItems {
		for kind, a := range item {
			operation, known := operations[kind]
			if !known {
				return nil, fmt.Errorf("the part %s of a transaction is not known", kind)
			}
			n, err := p.need(operation, a)
			if err != nil {
				return nil, err
			}
			list = append(list, n)
		}
	}
	return list, nil
}

func (p parser) batch(operation string, body []byte) ([]need, error) {
	var in struct {
		RequestItems map[string]json.RawMessage
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	var list []need
	for table, requests := range in.RequestItems {
		rows, err := batchRows(operation, requests)
		n := need{action: service + operation, resource: resource(table, "")}
		for _, r := range rows {
			key, keyErr := text(r[p.partitionKey])
			n.keys = append(n.keys, key)
			err = errors.Join(err, keyErr)
		}
		if err != nil {
			return nil, err
		}
		slices.Sort(n.keys)
		n.keys = slices.Compact(n.keys)
		list = append(list, n)
	}
	return list, nil
}

func batchRows(operation string, requests json.RawMessage) (rows []row, err error) {
	if operation == "BatchGetItem" {
		var in struct{ Keys []row }
		err = json.Unmarshal(requests, &in)
		return in.Keys, err
	}
	var in []struct {
		PutRequest    struct{ Item row }
		DeleteRequest struct{ Key row }
	}
	err = json.Unmarshal(requests, &in)
	for _, r := range in {
		if r.PutRequest.Item != nil {
			rows = append(rows, r.PutRequest.Item)
		} else {
			rows = append(rows, r.DeleteRequest.Key)
		}
	}
	return rows, err
}

// resource returns the ARN of a table or an index. A request can also name a table by its ARN.
func resource(table, index string) string {
	arn := table
	if !strings.HasPrefix(table, "arn:") {
		arn = TableARN(table)
	}
	if index != "" {
		arn += "/index/" + index
	}
	return arn
}

func text(v value) (string, error) {
	if v.S == nil {
		return "", errors.New("the partition key is missing, or no string")
	}
	return *v.S, nil
}
