package rowstore

import (
	"context"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/internal/request"
)

// A Bulk makes the same change to many rows, each of them independent: one that was lost holds up
// no other.
type Bulk[R Row[R]] struct {
	Table  *Table
	Cache  *Cache[R]
	Decode func(Item) (R, error)
	By     any           // for whom it is
	TTL    time.Duration // bounds the requests; zero for a change without one

	Holds func(row R, at Moment) bool       // the row is still there to be changed
	Next  func(row R, at Moment) (R, error) // what to write on top of it

	// EachItem writes each row with a request of its own, many at a time, rather than up to 100 with
	// one transaction.
	EachItem bool

	// First makes room for an attempt that goes first: other requests of this process for these rows
	// wait until leave is called. Nil for a change that waits like everything else.
	First func(ctx context.Context, rows []Key) (leave func())

	Rows   []*BulkRow[R] // in the order of their keys
	budget *request.Budget
	items  chan struct{} // a slot for each row that is written by itself
}

// A BulkRow is one row of a bulk, and what became of it.
type BulkRow[R Row[R]] struct {
	Key     Key
	Applied *Pending[R]    // the attempt that changed it
	Answer  request.Answer // to the request that said so
	Lost    bool           // it is not there to be changed
	Err     error          // it is malformed, and left as it is

	seen     Known[R]
	attempts []Pending[R] // to change it together with other rows
	unknown  bool         // an attempt was not answered, and the row was not seen since
}

// Open reports whether the row is still to be changed.
func (r *BulkRow[R]) Open() bool { return r.Applied == nil && !r.Lost && r.Err == nil }

// Seen returns the row as it was seen last.
func (r *BulkRow[R]) Seen() R { return r.seen.Row }

// MaxActions is DynamoDB's own limit of actions in a transaction.
const MaxActions = 100

// Add adds a row.
func (b *Bulk[R]) Add(k Key) { b.Rows = append(b.Rows, &BulkRow[R]{Key: k}) }

// Malformed returns the errors of the malformed rows, joined; nil for none.
func (b *Bulk[R]) Malformed() error {
	var errs Malformed
	for _, row := range b.Rows {
		if row.Err != nil {
			errs = append(errs, row.Err)
		}
	}
	return errs.Joined()
}

// readAll reads rows from the table, with one Query for each partition key, from the first to the
// last of its rows.
func (b *Bulk[R]) readAll(ctx context.Context, rows []*BulkRow[R], budget *request.Budget) error {
	for len(rows) > 0 {
		pk := rows[0].Key.PK
		n := slices.IndexFunc(rows, func(r *BulkRow[R]) bool { return r.Key.PK != pk })
		if n < 0 {
			n = len(rows)
		}
		between := Range{PK: pk, First: rows[0].Key.SK, Last: rows[n-1].Key.SK}
		view, err := QueryNow(ctx, b.Table, between, budget, b.TTL, Tolerant(b.Decode))
		if err != nil {
			return err
		}
		found := ByKey(view.Rows)
		for _, row := range rows[:n] {
			row.Answer = view.Answer
			b.see(row, found[row.Key], view.At)
		}
		rows = rows[n:]
	}
	return nil
}

// see takes in a row as the table has it: still to be changed, or lost.
func (b *Bulk[R]) see(row *BulkRow[R], found Parsed[R], at Moment) {
	if row.Err = found.Err; row.Err != nil {
		return
	}
	row.seen.See(found.Row)
	row.unknown = false
	row.Lost = !b.Holds(found.Row, at)
}

func open[R Row[R]](rows []*BulkRow[R]) []*BulkRow[R] {
	return slices.DeleteFunc(slices.Clone(rows), func(r *BulkRow[R]) bool { return !r.Open() })
}

// enter returns the Enter of attempts that change rows.
func (b *Bulk[R]) enter(rows ...*BulkRow[R]) func(context.Context) (func(), error) {
	if b.First == nil {
		return nil
	}
	keys := make([]Key, len(rows))
	for i, row := range rows {
		keys[i] = row.Key
	}
	return func(ctx context.Context) (func(), error) { return b.First(ctx, keys), nil }
}
