package dynamolease

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/internal/request"
)

// A bulk makes the same change to many leases, each on its own: one that is lost holds up no other.
type bulk struct {
	store *Store
	ttl   time.Duration // bounds the requests; zero for a change without one

	holder holder                                          // whose leases they are
	holds  func(row leaseRow, at moment) bool              // the lease is still there to be changed
	next   func(row leaseRow, at moment) (leaseRow, error) // what is to become of it

	items  []*bulkItem
	budget *request.Budget // of the whole
}

// A bulkItem is one lease of a bulk.
type bulkItem struct {
	key      key
	seen     sighting[leaseRow]
	attempts []attempt[leaseRow]
	applied  *attempt[leaseRow] // the attempt that changed it
	answer   request.Answer     // to the request that said so
	read     *moment            // before the row was read; nil for one from the store's memory
	lost     bool               // it is not there to be changed
	err      error              // its row is malformed: it is left as it is
	unknown  bool               // an attempt was not answered, and the row was not seen since
}

func (i *bulkItem) open() bool { return i.applied == nil && !i.lost && i.err == nil }

func (b *bulk) add(k key) { b.items = append(b.items, &bulkItem{key: k}) }

// malformed is a RowError for each row that is not one of ours, joined.
func (b *bulk) malformed() error {
	var errs rowErrors
	for _, item := range b.items {
		if item.err != nil {
			errs = append(errs, item.err)
		}
	}
	return errs.joined()
}

// run makes the change, by transactions or item by item, and leaves what it learned in the store's memory.
func (b *bulk) run(ctx context.Context) error {
	b.budget = b.store.budget(b.ttl)
	err := b.begin(ctx)
	if err == nil {
		err = b.write(ctx)
	}
	for _, item := range b.items {
		switch {
		case item.applied != nil:
			b.store.leases.keep(item.key, sighting[leaseRow]{row: item.applied.row}, item.applied.at)
		case item.lost, item.err != nil:
			b.store.leases.forget(item.key)
		case len(item.seen.unanswered) > 0 && len(item.attempts) > 0:
			b.store.leases.keep(item.key, item.seen, item.attempts[len(item.attempts)-1].at)
		}
	}
	return err
}

// begin takes the rows from the store's memory where they will do, and reads the others.
func (b *bulk) begin(ctx context.Context) error {
	at, ok := b.store.timing.moment()
	var unknown []*bulkItem
	for _, item := range b.items {
		if seen, found := b.store.leases.recall(item.key); ok && found && b.holds(seen.row, at) {
			item.seen = seen
		} else {
			unknown = append(unknown, item)
		}
	}
	return b.read(ctx, unknown, b.budget)
}

// read looks the rows of items up in the table, with one Query for each group, from the first to the last of its items.
func (b *bulk) read(ctx context.Context, items []*bulkItem, budget *request.Budget) error {
	for len(items) > 0 {
		pk := items[0].key.pk
		n := slices.IndexFunc(items, func(i *bulkItem) bool { return i.key.pk != pk })
		if n < 0 {
			n = len(items)
		}
		between := rowRange{pk, items[0].key.sk, items[n-1].key.sk}
		view, err := queryNow(ctx, b.store, between, budget, b.ttl, tolerant(decodeLease))
		if err != nil {
			return err
		}
		found := byKey(view.rows)
		for _, item := range items[:n] {
			item.answer, item.read = view.answer, &view.at
			b.see(item, found[item.key], view.at)
		}
		items = items[n:]
	}
	return nil
}

// see takes in a row as the store has it: changed by an attempt whose answer was lost, still to be changed, or lost.
func (b *bulk) see(item *bulkItem, found parsed[leaseRow], at moment) {
	if item.err = found.err; item.err != nil {
		return
	}
	row := found.row
	item.seen.see(row)
	item.unknown = false
	if i := slices.IndexFunc(item.attempts, func(a attempt[leaseRow]) bool { return a.row.rev == row.rev }); i >= 0 {
		item.applied = &item.attempts[i]
		return
	}
	item.lost = !b.holds(row, at)
}

func (b *bulk) write(ctx context.Context) error {
	items := slices.DeleteFunc(slices.Clone(b.items), func(i *bulkItem) bool { return !i.open() })
	if b.store.renewal == EachItem {
		return parallel(len(items), itemsInFlight, func(i int) error { return b.single(ctx, items[i]) })
	}
	chunks := slices.Collect(slices.Chunk(items, maxTransaction))
	return parallel(len(chunks), transactionsInFlight, func(i int) error {
		t := &batch{bulk: b, items: chunks[i], budget: b.budget.Share(), timeout: b.store.timeout(b.ttl)}
		return t.run(ctx)
	})
}

// single changes one lease with an UpdateItem of its own.
func (b *bulk) single(ctx context.Context, item *bulkItem) error {
	done, err := settle(ctx, b.store, change[leaseRow]{
		key: item.key, rows: b.store.leases, decode: decodeLease, by: b.holder, ttl: b.ttl, seen: &item.seen, budget: b.budget.Share(),
		propose: func(seen sighting[leaseRow], at moment) (proposal[leaseRow], error) {
			if !b.holds(seen.row, at) {
				return proposal[leaseRow]{action: leave, next: seen.row}, nil
			}
			next, err := b.next(seen.row, at)
			return proposal[leaseRow]{action: write, next: next}, err
		},
	})
	var row *RowError
	if errors.As(err, &row) && !errors.Is(err, ErrUnknownOutcome) {
		item.err = err
		return nil
	}
	if err != nil {
		return err
	}
	item.seen, item.applied, item.answer = done.seen, done.applied, done.answer
	item.lost = done.applied == nil
	return nil
}

// parallel calls f for 0 to n-1, at most limit at a time, and waits for all. It returns their errors joined.
func parallel(n, limit int, f func(i int) error) error {
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
