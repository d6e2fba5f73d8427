package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// A database is one table of the server. All requests go to it one after the other, so their order is known, and it
// notes what each of them did to which row. It asks the server, and knows nothing of how the library writes.
type database struct {
	table string

	mu      sync.Mutex // held while a request is under way, which no timer has to pass for
	wire    wire
	now     int64 // counts what happens, in the order in which it happens
	rows    map[rowKey]row
	changes []*change
	arrived []*delivery
	faults  []string // what a library that keeps its word never does
}

// A delivery is one arrival of a request at the server.
type delivery struct {
	call     *call  // the call that it was sent in; nil for one of the test's own
	op       string // such as "UpdateItem"
	sent     int64  // when the client began to send it
	done     int64  // when the server had done with it
	answered bool   // the client got the answer
	at       time.Time
	status   int
	touched  []rowKey // what it may have changed
}

// A change is what a delivery did to one row.
type change struct {
	*delivery
	seq    int64
	at     time.Time
	key    rowKey
	before row // nil for none
	after  row
}

// tick is the next number of a sequence that orders all events of the history.
func (d *database) tick() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now++
	return d.now
}

// reach notes where the SDK sends requests to, where the test does not know it.
func (d *database) reach(u *url.URL) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.wire.endpoint == nil {
		d.wire.endpoint = u
	}
}

// row is a row as it is now.
func (d *database) row(k rowKey) row {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rows[k]
}

// related are the keys, and those of the sessions by which leases among them are held.
func (d *database) related(keys []rowKey) []rowKey {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, k := range keys {
		if session := d.rows[k].session(); session != (rowKey{}) {
			keys = append(keys, session)
		}
	}
	return keys
}

// due are the keys of the rows whose ttl has passed, in order.
func (d *database) due(now time.Time) []rowKey {
	d.mu.Lock()
	defer d.mu.Unlock()
	var keys []rowKey
	for k, r := range d.rows {
		if ttl := r.number("ttl"); ttl > 0 && ttl < now.Unix() {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b rowKey) int { return strings.Compare(a.String(), b.String()) })
	return keys
}

// deliver sends a request to the server and notes what it did.
func (d *database) deliver(header http.Header, body []byte, by *delivery) (*http.Response, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	touched, body := d.prepare(by.op, body)
	response, content, err := d.wire.send(header, body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusOK && len(touched) > 0 {
		if err := d.note(by, header, touched, content); err != nil {
			return nil, err
		}
	}
	d.now++
	by.done, by.at, by.status, by.touched = d.now, time.Now(), response.StatusCode, touched
	d.arrived = append(d.arrived, by)
	response.Body = io.NopCloser(bytes.NewReader(content))
	return response, nil
}

// A requestBody is what of a request's body the database looks at.
type requestBody struct {
	Key            map[string]value
	TableName      string
	ConsistentRead bool
	TransactItems  []map[string]struct {
		TableName string
		Key, Item map[string]value
	}
}

// prepare says which rows a request may change, and has an UpdateItem bring the row along.
func (d *database) prepare(op string, body []byte) ([]rowKey, []byte) {
	var request requestBody
	if err := json.Unmarshal(body, &request); err != nil {
		d.faults = append(d.faults, fmt.Sprintf("%s with a body that cannot be read: %v", op, err))
		return nil, body
	}
	switch op {
	case "UpdateItem":
		return []rowKey{row(request.Key).key()}, append([]byte(`{"ReturnValues":"ALL_NEW",`), body[1:]...)
	case "DeleteItem":
		return []rowKey{row(request.Key).key()}, body
	case "TransactWriteItems":
		var keys []rowKey
		for _, action := range request.TransactItems {
			for kind, a := range action {
				if kind != "ConditionCheck" {
					keys = append(keys, row(a.Key).key())
				}
			}
		}
		return keys, body
	case "GetItem", "Query": // a Scan only finds what is then deleted on a condition
		if !request.ConsistentRead {
			d.faults = append(d.faults, op+" that is not strongly consistent: "+string(body))
		}
	}
	return nil, body
}

// note looks at the rows that a request has touched.
func (d *database) note(by *delivery, header http.Header, touched []rowKey, content []byte) error {
	found := make(map[rowKey]row)
	switch by.op {
	case "UpdateItem":
		var answer struct{ Attributes row }
		if err := json.Unmarshal(content, &answer); err != nil {
			return err
		}
		found[touched[0]] = answer.Attributes
	case "TransactWriteItems":
		if err := d.look(header, touched, found); err != nil {
			return err
		}
	}
	for _, k := range touched {
		before, after := d.rows[k], found[k]
		if reflect.DeepEqual(before, after) {
			continue
		}
		d.now++
		d.changes = append(d.changes, &change{delivery: by, seq: d.now, at: time.Now(), key: k, before: before, after: after})
		if after == nil {
			delete(d.rows, k)
		} else {
			d.rows[k] = after
		}
	}
	return nil
}

// look reads rows, strongly consistent.
func (d *database) look(header http.Header, keys []rowKey, found map[rowKey]row) error {
	header = header.Clone()
	header.Set("X-Amz-Target", "DynamoDB_20120810.BatchGetItem")
	list := make([]map[string]value, len(keys))
	for i, k := range keys {
		list[i] = map[string]value{"pk": textValue(k.pk), "sk": textValue(k.sk)}
	}
	body, err := json.Marshal(map[string]any{"RequestItems": map[string]any{d.table: map[string]any{"Keys": list, "ConsistentRead": true}}})
	if err != nil {
		return err
	}
	response, content, err := d.wire.send(header, body)
	if err != nil {
		return err
	}
	var answer struct{ Responses map[string][]row }
	if err := json.Unmarshal(content, &answer); err != nil || response.StatusCode != http.StatusOK {
		return fmt.Errorf("look at rows: %s: %w", content, err)
	}
	for _, r := range answer.Responses[d.table] {
		found[r.key()] = r
	}
	return nil
}

// differences are those between the rows of the table and the notes about them.
func (d *database) differences(scanned []row) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	rest := maps.Clone(d.rows)
	var list []string
	for _, r := range scanned {
		if !reflect.DeepEqual(rest[r.key()], r) {
			list = append(list, fmt.Sprintf("%v is %v in the table and %v in the notes", r.key(), r, rest[r.key()]))
		}
		delete(rest, r.key())
	}
	for k, r := range rest {
		list = append(list, fmt.Sprintf("%v is not in the table and %v in the notes", k, r))
	}
	return list
}
