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

// A database is one table of the server. It sends all requests one after the other, so that their
// order is known. It notes how each request changed which row. It reads the rows from the server,
// and does not depend on how the library writes.
type database struct {
	table string

	mu      sync.Mutex // held while a request is under way; a request does not need timers
	wire    wire
	now     int64 // counts the events, in their order
	rows    map[rowKey]row
	made    map[rowKey]time.Time // when each row was made
	changes []*change
	arrived []*delivery
	lives   lives
	faults  []string // requests that a correct library never sends
}

// A delivery is one arrival of a request at the server.
type delivery struct {
	call     *call         // the call that sent it; nil if the test itself did
	op       string        // such as "UpdateItem"
	sent     int64         // when the client began to send it
	done     int64         // when the server finished it
	answered bool          // the client got the answer
	age      time.Duration // of what it reads, unless the read is strongly consistent
	at       time.Time
	status   int
	touched  []rowKey // the rows that it may have changed
}

// A change is the effect of a delivery on one row.
type change struct {
	*delivery
	seq    int64
	at     time.Time
	key    rowKey
	before row // nil for none
	after  row
}

// tick returns the next number of a sequence that orders all events of the history.
func (d *database) tick() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now++
	return d.now
}

// reach notes the address to which the SDK sends requests, if the test does not know it.
func (d *database) reach(u *url.URL) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.wire.endpoint == nil {
		d.wire.endpoint = u
	}
}

// row returns the present state of a row.
func (d *database) row(k rowKey) row {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rows[k]
}

// related returns the keys, and the keys of the sessions that hold leases among them.
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

// expired returns those of the rows that a read names which have expired. A Query names the rows of
// its partition key.
func (d *database) expired(keys []rowKey) []rowKey {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(keys) == 1 && keys[0].sk == "" {
		pk := keys[0].pk
		keys = nil
		for k := range d.rows {
			if k.pk == pk {
				keys = append(keys, k)
			}
		}
		slices.SortFunc(keys, func(a, b rowKey) int { return strings.Compare(a.sk, b.sk) })
	}
	return slices.DeleteFunc(keys, func(k rowKey) bool { return d.rows[k].number("exp") > time.Now().UnixMilli() })
}

// due returns the keys of the rows whose ttl has passed, in order.
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

// deliver sends a request to the server and notes its effects.
func (d *database) deliver(header http.Header, body []byte, by *delivery) (*http.Response, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	touched, body, mayBeOld := d.prepare(by, body)
	response, content, err := d.wire.send(header, body)
	if err != nil {
		return nil, err
	}
	if mayBeOld && response.StatusCode == http.StatusOK {
		if content, err = d.aged(by.op, content, time.Now().Add(-by.age)); err != nil {
			return nil, err
		}
		refit(response, content)
	}
	if response.StatusCode == http.StatusOK && len(touched) > 0 {
		if err := d.note(by, header, touched, content); err != nil {
			return nil, err
		}
	}
	d.now++
	by.done, by.at, by.status, by.touched = d.now, time.Now(), response.StatusCode, touched
	d.arrived = append(d.arrived, by)
	if response.Header.Get("X-Amzn-Requestid") == "" {
		response.Header.Set("X-Amzn-Requestid", "HISTORY")
	}
	response.Body = io.NopCloser(bytes.NewReader(content))
	return response, nil
}

// A requestBody holds the fields of a request's body that the database reads.
type requestBody struct {
	Key            map[string]value
	TableName      string
	ReturnValues   string
	Values         map[string]value `json:"ExpressionAttributeValues"`
	ConsistentRead bool
	TransactItems  []map[string]struct {
		TableName string
		Key, Item map[string]value
	}
}

// prepare returns the keys of the rows that a request may change, and whether its answer may be old.
// It makes an UpdateItem return the row.
func (d *database) prepare(by *delivery, body []byte) (touched []rowKey, sent []byte, mayBeOld bool) {
	op := by.op
	var request requestBody
	if err := json.Unmarshal(body, &request); err != nil {
		d.faults = append(d.faults, fmt.Sprintf("the body of a %s request is not valid: %v", op, err))
		return nil, body, false
	}
	switch op {
	case "UpdateItem":
		if request.ReturnValues == "" {
			body = append([]byte(`{"ReturnValues":"ALL_NEW",`), body[1:]...)
		}
		return []rowKey{row(request.Key).key()}, body, false
	case "DeleteItem":
		return []rowKey{row(request.Key).key()}, body, false
	case "TransactWriteItems":
		var keys []rowKey
		for _, action := range request.TransactItems {
			for kind, a := range action {
				if kind != "ConditionCheck" {
					keys = append(keys, row(a.Key).key())
				}
			}
		}
		return keys, body, false
	case "GetItem", "Query": // a Scan only finds rows; the deletion that follows has a condition
		mayBeOld = !request.ConsistentRead
		if mayBeOld && (by.call == nil || !mayReadOld[by.call.what]) {
			d.faults = append(d.faults, "a "+op+" request is not strongly consistent: "+string(body))
		}
	}
	return nil, body, mayBeOld
}

// note reads the rows that a request touched, and notes their changes.
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
		ch := &change{delivery: by, seq: d.now, at: time.Now(), key: k, before: before, after: after}
		d.changes = append(d.changes, ch)
		if d.lives.closes(ch) {
			d.faults = append(d.faults, fmt.Sprintf("a call closed a session that lives: %v", ch))
		}
		if before == nil {
			d.made[k] = time.Now()
		}
		if after == nil {
			delete(d.rows, k)
		} else {
			d.rows[k] = after
		}
	}
	return nil
}

// look reads rows with strong consistency.
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
		return fmt.Errorf("read rows: %s: %w", content, err)
	}
	for _, r := range answer.Responses[d.table] {
		found[r.key()] = r
	}
	return nil
}

// differences lists the differences between the rows of the table and the notes about them.
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
