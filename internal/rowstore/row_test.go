package rowstore

import (
	"fmt"

	"github.com/dynamolease/dynamolease/internal/testkit"
)

// A row is one of a kind that only the tests know: it has a value, and a rev.
type row struct {
	value, rev string
}

func (r row) Rev() string { return r.rev }

func (r row) WithRev(rev string) row {
	r.rev = rev
	return r
}

func (r row) Supersedes(row) bool { return true }

func (r row) Requires() []Attribute { return nil }

func (r row) Attributes() []Attribute {
	return []Attribute{{AttrRev, Text(r.rev)}, {"value", Text(r.value)}}
}

func decodeRow(item Item) (row, error) {
	d := Decode(item, malformedRow)
	r := row{d.Text("value"), d.Text(AttrRev)}
	return r, d.Err
}

// A malformedError says which row could not be read.
type malformedError struct{ text string }

func (e *malformedError) Error() string { return e.text }

func malformedRow(k Key, attribute, problem string) error {
	return &malformedError{fmt.Sprintf("%v: %s %s", k, attribute, problem)}
}

// item returns the row that a text describes; nothing for an empty text.
func item(text string) Item {
	if text == "" {
		return nil
	}
	return testkit.Row(text)
}

const aRow = "pk S p\nsk S s\nvalue S v\nrev S r\n"
