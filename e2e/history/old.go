package history

import (
	"encoding/json"
	"time"
)

// mayReadOld lists the calls whose reads may be eventually consistent: no decision about an owner
// rests on them.
var mayReadOld = map[kind]bool{}

// asOf returns a row as it was at a time.
func (d *database) asOf(k rowKey, at time.Time) row {
	r := d.rows[k]
	for i := len(d.changes) - 1; i >= 0 && d.changes[i].at.After(at); i-- {
		if d.changes[i].key == k {
			r = d.changes[i].before
		}
	}
	return r
}

// aged returns the answer to an eventually consistent read with each of its rows as it was at a
// time. A row that was not there yet is left out, and one that is not there any more is left out
// all the same.
func (d *database) aged(op string, content []byte, at time.Time) ([]byte, error) {
	var answer map[string]json.RawMessage
	var found struct {
		Item  row
		Items []row
	}
	if err := json.Unmarshal(content, &answer); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(content, &found); err != nil {
		return nil, err
	}
	var err error
	if op == "GetItem" {
		delete(answer, "Item")
		if old := d.asOf(found.Item.key(), at); found.Item != nil && old != nil {
			answer["Item"], err = json.Marshal(old)
		}
	} else {
		items := []row{}
		for _, r := range found.Items {
			if old := d.asOf(r.key(), at); old != nil {
				items = append(items, old)
			}
		}
		answer["Items"], err = json.Marshal(items)
		answer["Count"], _ = json.Marshal(len(items))
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}
