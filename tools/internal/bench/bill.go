package bench

import (
	"encoding/json"
	"fmt"
)

// A bill is the price of one call by DynamoDB's documented rules. A strongly consistent read costs
// a unit for each 4 KB, a write one for each 1 KB of the item, in a transaction two; all are
// rounded up to at least one.
type bill struct {
	Operation  string         `json:"operation"`
	Requests   int            `json:"requests"`
	Sent       map[string]int `json:"sent"` // requests by operation
	BytesSent  int            `json:"bytes_sent"`
	ReadUnits  int            `json:"read_units"`
	WriteUnits int            `json:"write_units"`
}

const (
	readUnit  = 4 << 10
	writeUnit = 1 << 10
)

// A body is the priced part of a request or an answer.
type body struct {
	Key                       attributes
	ExpressionAttributeValues attributes
	TransactItems             []struct{ Update *body }
	Item                      attributes
	Items                     []attributes
}

// attributes is a JSON object of names and values such as {"S": "text"}.
type attributes map[string]map[string]any

// price adds up the bill of a call.
func price(operation string, exchanges []exchange) (bill, error) {
	total := bill{Operation: operation, Requests: len(exchanges), Sent: make(map[string]int)}
	for _, e := range exchanges {
		total.Sent[e.op]++
		total.BytesSent += len(e.request)
		var request, answer body
		if err := json.Unmarshal(e.request, &request); err != nil {
			return total, fmt.Errorf("parse a request: %w", err)
		}
		if err := json.Unmarshal(e.answer, &answer); err != nil {
			return total, fmt.Errorf("parse an answer: %w", err)
		}
		switch e.op {
		case "GetItem":
			total.ReadUnits += units(answer.Item.size(), readUnit)
		case "Query":
			read := 0
			for _, item := range answer.Items {
				read += item.size()
			}
			total.ReadUnits += units(read, readUnit)
		case "UpdateItem":
			total.WriteUnits += request.written()
		case "TransactWriteItems":
			for _, action := range request.TransactItems {
				total.WriteUnits += 2 * action.Update.written()
			}
		default:
			return total, fmt.Errorf("no price is known for %s", e.op)
		}
	}
	return total, nil
}

// written returns the units of a write. The library writes whole rows, so that the request contains
// the whole item and a little more.
func (b *body) written() int {
	return units(b.Key.size()+b.ExpressionAttributeValues.size(), writeUnit)
}

func units(size, unit int) int { return max(1, (size+unit-1)/unit) }

func (a attributes) size() int {
	total := 0
	for name, value := range a {
		total += len(name) + size(value)
	}
	return total
}

// size returns the size of a value as DynamoDB counts it.
func size(value map[string]any) int {
	if s, ok := value["S"].(string); ok {
		return len(s)
	}
	if n, ok := value["N"].(string); ok {
		return (len(n)+1)/2 + 1
	}
	total := 0
	if list, ok := value["L"].([]any); ok {
		total = 3
		for _, element := range list {
			if v, ok := element.(map[string]any); ok {
				total += 1 + size(v)
			}
		}
	}
	return total
}
