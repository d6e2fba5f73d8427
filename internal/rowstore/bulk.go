package rowstore

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/internal/request"
)

// A Bulk makes the same change to many rows, each of them independent: one that was lost holds up
// no other.
type Bulk[R Record[R]] struct {
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

	Rows   []*BulkRow[R] // in the order of their keys
	budget *request.Budget
}

// A BulkRow is one row of a bulk, and what became of it.
type BulkRow[R Record[R]] struct {
	Key     Key
	Applied *Pending[R]    // the attempt that changed it
	Answer  request.Answer // to the request that said so
	Lost    bool           // it is not there to be changed
	Err     error          // it is malformed, and left as it is

	seen     Known[R]
	attempts []Pending[R]
	read     *Moment // before the row was read; nil for one from the cache
	unknown  bool    // an attempt was not answered, and the row was not seen since
}

// Open reports whether the row is still to be changed.
func (r *BulkRow[R]) Open() bool { return r.Applied == nil && !r.Lost && r.Err == nil }

// Most requests that are in flight at the same time.
const (
	transactionsInFlight = 16
	itemsInFlight        = 32
)

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

// Do makes the change, and leaves in the cache what it learned. The error wraps [ErrUnknownOutcome]
// when an attempt was never answered.
func (b *Bulk[R]) Do(ctx context.Context) error {
	b.budget = b.Table.Budget(b.TTL)
	err := b.begin(ctx)
	if err == nil {
		err = b.write(ctx)
	}
	for _, row := range b.Rows {
		switch {
		case row.Applied != nil:
			b.Cache.Keep(row.Key, Known[R]{Row: row.Applied.Row}, row.Applied.At)
		case row.Lost, row.Err != nil:
			b.Cache.Forget(row.Key)
		case len(row.seen.Pending) > 0 && len(row.attempts) > 0:
			b.Cache.Keep(row.Key, row.seen, row.attempts[len(row.attempts)-1].At)
		}
	}
	return err
}

// begin takes the rows from the cache where they will do, and reads the others.
func (b *Bulk[R]) begin(ctx context.Context) error {
	at, ok := b.Table.Time.Moment()
	var unknown []*BulkRow[R]
	for _, row := range b.Rows {
		if seen, found := b.Cache.Recall(row.Key); ok && found && b.Holds(seen.Row, at) {
			row.seen = seen
		} else {
			unknown = append(unknown, row)
		}
	}
	return b.readAll(ctx, unknown, b.budget)
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
		between := Range{pk, rows[0].Key.SK, rows[n-1].Key.SK}
		view, err := QueryNow(ctx, b.Table, between, budget, b.TTL, Tolerant(b.Decode))
		if err != nil {
			return err
		}
		found := ByKey(view.Rows)
		for _, row := range rows[:n] {
			row.Answer, row.read = view.Answer, &view.At
			b.see(row, found[row.Key], view.At)
		}
		rows = rows[n:]
	}
	return nil
}

// see takes in a row as the table has it: changed by an attempt whose answer was lost, still to be
// changed, or lost.
func (b *Bulk[R]) see(row *BulkRow[R], found Parsed[R], at Moment) {
	if row.Err = found.Err; row.Err != nil {
		return
	}
	row.seen.See(found.Row)
	row.unknown = false
	own := func(a Pending[R]) bool { return a.Row.Rev() == found.Row.Rev() }
	if i := slices.IndexFunc(row.attempts, own); i >= 0 {
		row.Applied = &row.attempts[i]
		return
	}
	row.Lost = !b.Holds(found.Row, at)
}

func (b *Bulk[R]) write(ctx context.Context) error {
	rows := slices.DeleteFunc(slices.Clone(b.Rows), func(r *BulkRow[R]) bool { return !r.Open() })
	if b.EachItem {
		return Parallel(len(rows), itemsInFlight, func(i int) error { return b.single(ctx, rows[i]) })
	}
	chunks := slices.Collect(slices.Chunk(rows, MaxActions))
	return Parallel(len(chunks), transactionsInFlight, func(i int) error {
		return (&batch[R]{bulk: b, rows: chunks[i], budget: b.budget.Share()}).run(ctx)
	})
}

// single changes one row with a request of its own.
func (b *Bulk[R]) single(ctx context.Context, row *BulkRow[R]) error {
	var malformed error
	done, err := Change[R]{
		Key: row.Key, Cache: b.Cache, By: b.By, TTL: b.TTL, Seen: &row.seen, Budget: b.budget.Share(),
		Decode: func(item Item) (R, error) {
			found, err := b.Decode(item)
			malformed = err
			return found, err
		},
		Propose: func(seen Known[R], at Moment) (Proposal[R], error) {
			if !b.Holds(seen.Row, at) {
				return Proposal[R]{}, nil
			}
			next, err := b.Next(seen.Row, at)
			if err != nil {
				malformed = err
			}
			return Write(next), err
		},
	}.Do(ctx, b.Table)
	switch {
	case err == nil:
		row.seen, row.Applied, row.Answer = done.Known, done.Applied, done.Answer
		row.Lost = done.Applied == nil
	case malformed != nil && !errors.Is(err, ErrUnknownOutcome):
		row.Err, err = err, nil
	}
	return err
}

// Parallel calls f for 0 to n-1, at most limit at a time, and waits for all. It returns their errors
// joined.
func Parallel(n, limit int, f func(i int) error) error {
	if n == 1 {
		return f(0)
	}
	errs := make([]error, n)
	slots := make(chan struct{}, limit)
	var running sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		running.Go(func() {
			errs[i] = f(i)
			<-slots
		})
	}
	running.Wait()
	return errors.Join(errs...)
}
