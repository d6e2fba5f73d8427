package rowstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Most requests that are in flight at the same time.
const (
	transactionsInFlight = 16
	itemsInFlight        = 32
)

// Do makes the change, and leaves in the cache what it learned. The error wraps [ErrUnknownOutcome]
// when an attempt was never answered.
func (b *Bulk[R]) Do(ctx context.Context) error {
	b.items = make(chan struct{}, itemsInFlight)
	if b.budget = b.Table.Budget(b.TTL); b.First != nil {
		b.budget = b.Table.First(b.TTL, b.TTL*2/3) // where it is renewed in time
	}
	err := b.begin(ctx)
	if err == nil {
		err = b.write(ctx)
	}
	unknown := false
	for _, row := range b.Rows {
		switch {
		case row.Applied != nil:
			b.Cache.Keep(row.Key, Known[R]{Row: row.Applied.Row}, row.Applied.At)
		case row.Lost:
			b.Cache.Forget(row.Key, row.seen.Row)
		case row.Err != nil:
			var unread R
			b.Cache.Forget(row.Key, unread)
		case row.unknown:
			unknown = true
			b.Cache.Keep(row.Key, row.seen, row.attempts[len(row.attempts)-1].At)
		}
	}
	if err != nil && unknown && !errors.Is(err, ErrUnknownOutcome) {
		return fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
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

// write changes the rows that are there. Each hundred of them goes on by itself, so that one that
// hangs holds up no other.
func (b *Bulk[R]) write(ctx context.Context) error {
	chunks := slices.Collect(slices.Chunk(open(b.Rows), MaxActions))
	return Parallel(len(chunks), transactionsInFlight, func(i int) error {
		if !b.EachItem {
			if err := (&batch[R]{bulk: b, rows: chunks[i], budget: b.budget.Share()}).run(ctx); err != nil {
				return err
			}
		}
		rows := open(chunks[i])
		return Parallel(len(rows), itemsInFlight, func(i int) error { return b.single(ctx, rows[i]) })
	})
}

// single changes one row with a request of its own.
func (b *Bulk[R]) single(ctx context.Context, row *BulkRow[R]) error {
	b.items <- struct{}{}
	defer func() { <-b.items }()
	var malformed error
	done, err := Change[R]{
		Key: row.Key, Cache: b.Cache, By: b.By, TTL: b.TTL, Seen: &row.seen, Budget: b.budget.Share(), Enter: b.enter(row),
		Counts: func(p Pending[R]) bool { // with other rows, before
			return slices.ContainsFunc(row.attempts, func(a Pending[R]) bool { return a.Row.Rev() == p.Row.Rev() })
		},
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
	row.seen = done.Known
	switch {
	case err == nil:
		row.Applied, row.Answer = done.Applied, done.Answer
		row.Lost = done.Applied == nil
	case malformed != nil && !errors.Is(err, ErrUnknownOutcome):
		row.Err, err = err, nil
	}
	return err
}

// Parallel calls f for 0 to n-1, at most limit at a time, and waits for all. It returns their
// errors joined.
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
