package dynamotest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// A rowName names a row. A Query has no sk: it needs its partition key only.
type rowName struct{ table, pk, sk string }

func (r rowName) key() keyName { return keyName{r.table, r.pk} }

// A keyName names a partition key of a table.
type keyName struct{ table, pk string }

// A demand is what a request needs of which rows.
type demand struct {
	op     string
	rows   []rowName // of a transaction in the order of its actions
	token  string    // of a TransactWriteItems
	each   float64   // units of each row, if it is small
	writes bool      // these are write units
	hold   *hold     // of its rows, if it is let in
}

// transacts reports whether a request is refused with a reason for each row.
func (d *demand) transacts() bool { return strings.HasPrefix(d.op, "Transact") }

// conflicts reports whether a request cannot have rows that a transaction holds.
func (d *demand) conflicts() bool { return d.writes || d.transacts() }

// values are the attributes of a row, or values of an expression. Keys are strings.
type values map[string]struct{ S string }

type demandBody struct {
	TableName                 string
	Key, Item                 values
	ConsistentRead            bool
	ClientRequestToken        string
	KeyConditionExpression    string
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues values
	TransactItems             []map[string]struct {
		TableName string
		Key, Item values
	}
}

// demandOf returns what a request needs. It reports false for those that contend with nobody.
func demandOf(op string, body []byte) (*demand, bool) {
	d := &demand{op: op, each: 1}
	var in demandBody
	if json.Unmarshal(body, &in) != nil {
		return nil, false // the server will say what is wrong
	}
	switch op {
	case "GetItem", "Query":
		if !in.ConsistentRead {
			d.each = 0.5
		}
	case "PutItem", "UpdateItem", "DeleteItem":
		d.writes = true
	case "TransactWriteItems":
		d.each, d.writes, d.token = 2, true, in.ClientRequestToken
	case "TransactGetItems":
		d.each = 2
	default:
		return nil, false
	}
	switch {
	case d.transacts():
		for _, action := range in.TransactItems {
			for _, a := range action {
				d.rows = append(d.rows, rowOf(a.TableName, a.Key, a.Item))
			}
		}
	case op == "Query":
		d.rows = []rowName{{table: in.TableName, pk: in.partitionKey()}}
	default:
		d.rows = []rowName{rowOf(in.TableName, in.Key, in.Item)}
	}
	return d, true
}

func rowOf(table string, key, item values) rowName {
	if key == nil {
		key = item
	}
	return rowName{table, key["pk"].S, key["sk"].S}
}

// partitionKey returns the value that the condition of a Query wants of pk.
func (in *demandBody) partitionKey() string {
	words := strings.Fields(in.KeyConditionExpression)
	for i := 0; i+2 < len(words); i++ {
		name := words[i]
		if real, ok := in.ExpressionAttributeNames[name]; ok {
			name = real
		}
		if name == "pk" && words[i+1] == "=" {
			return in.ExpressionAttributeValues[words[i+2]].S
		}
	}
	return ""
}

// metered has the server report the units of a request.
func metered(body []byte) []byte {
	if bytes.Contains(body, []byte(`"ReturnConsumedCapacity"`)) {
		return body
	}
	return append([]byte(`{"ReturnConsumedCapacity":"TOTAL",`), bytes.TrimLeft(body, "{ \t\r\n")...)
}

// unitsOf returns the units that an answer reports, by table.
func unitsOf(body []byte) map[string]float64 {
	type capacity struct {
		TableName     string
		CapacityUnits float64
	}
	var all []capacity
	consumed := consumedOf(body)
	if json.Unmarshal(consumed, &all) != nil {
		all = make([]capacity, 1)
		if json.Unmarshal(consumed, &all[0]) != nil {
			return nil
		}
	}
	units := make(map[string]float64)
	for _, c := range all {
		units[c.TableName] += c.CapacityUnits
	}
	return units
}

// consumedOf returns the part of an answer with its units. It looks at the end first, since decoding
// thousands of rows takes long. An attribute of a row may have this name as well, but its parts are
// objects and not strings.
func consumedOf(body []byte) (consumed json.RawMessage) {
	name := []byte(`"ConsumedCapacity":`)
	if at := bytes.LastIndex(body, name); at >= 0 {
		err := json.NewDecoder(bytes.NewReader(body[at+len(name):])).Decode(&consumed)
		if err == nil && bytes.Contains(consumed, []byte(`"TableName":"`)) {
			return consumed
		}
	}
	var out struct{ ConsumedCapacity json.RawMessage }
	_ = json.Unmarshal(body, &out)
	return out.ConsumedCapacity
}

// bodyOf returns the body of a request that can be sent again.
func bodyOf(req *http.Request) ([]byte, error) {
	if req.GetBody == nil {
		return nil, nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, fmt.Errorf("read request again: %w", err)
	}
	return io.ReadAll(body)
}

// withBody returns the request with another body.
func withBody(req *http.Request, body []byte) *http.Request {
	out := req.Clone(req.Context())
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	out.Body, _ = out.GetBody()
	out.ContentLength = int64(len(body))
	return out
}
