package dynamolease

import (
	"context"
	"slices"
	"time"

	"github.com/dynamolease/dynamolease/internal/request"
)

// Renew extends to at least ttl (1 s to a year) from now each live lease that owner holds among partitions, and returns
// them in partition order, with their epochs as they were. A partition that owner does not hold any more is left out,
// which is no error: stop its work. An expired lease is never extended, even if nobody took it.
//
// Up to 100 leases are one request, more are several at a time; see [Renewal]. A store reads the group once for leases
// that it did not acquire or renew itself.
//
// Any failure fails the whole call. Leases keep what they had left before it, some may have been extended all the same,
// and calling again is safe. The error wraps [ErrUnknownOutcome] when an answer was lost. Other errors: [ArgumentError],
// [RowError], [SetupError], the context's, or the SDK's, after retries for at most half the ttl.
func (s *Store) Renew(ctx context.Context, group string, partitions []int, owner string, ttl time.Duration) ([]Lease, error) {
	if err := firstError(checkName("group", group), checkName("owner", owner), checkTTL(ttl)); err != nil {
		return nil, s.explain(err, "renew")
	}
	for _, partition := range partitions {
		if err := checkPartition("partitions", partition); err != nil {
			return nil, s.explain(err, "renew")
		}
	}
	if len(partitions) == 0 {
		return nil, nil
	}
	r := &renewal{store: s, group: group, owner: owner, ttl: ttl}
	if err := r.begin(ctx, slices.Compact(slices.Sorted(slices.Values(partitions)))); err != nil {
		return nil, s.explain(err, "renew leases of %s", group)
	}
	err := r.run(ctx)
	leases := r.end()
	if err != nil {
		return nil, s.explain(err, "renew leases of %s", group)
	}
	return leases, nil
}

// A renewal is one call of Renew.
type renewal struct {
	store *Store
	group string
	owner string
	ttl   time.Duration
	items []*renewing // in partition order
}

// A renewing is one lease of a renewal.
type renewing struct {
	key      key
	seen     sighting[leaseRow]
	attempts []attempt[leaseRow]
	applied  *attempt[leaseRow] // the attempt that extended it
	answer   request.Answer     // to the request that said so
	lost     bool               // the owner does not hold it
	unknown  bool               // an attempt was not answered, and the row was not seen since
}

func (i *renewing) open() bool { return i.applied == nil && !i.lost }

// begin collects the leases, from the store's memory where it knows them as the owner's, and from the table otherwise.
func (r *renewal) begin(ctx context.Context, partitions []int) error {
	at, ok := r.store.timing.moment()
	var unknown []*renewing
	for _, partition := range partitions {
		item := &renewing{key: leaseKey(r.group, partition)}
		r.items = append(r.items, item)
		if seen, found := r.store.leases.recall(item.key); ok && found && r.holds(seen.row, at) {
			item.seen = seen
		} else {
			unknown = append(unknown, item)
		}
	}
	return r.read(ctx, unknown)
}

// read looks the rows of items up in the table, with one Query from the first to the last of them.
func (r *renewal) read(ctx context.Context, items []*renewing) error {
	if len(items) == 0 {
		return nil
	}
	between := rowRange{items[0].key.pk, items[0].key.sk, items[len(items)-1].key.sk}
	rows, at, err := queryNow(ctx, r.store, between, r.ttl, decodeLease)
	if err != nil {
		return err
	}
	found := make(map[key]leaseRow, len(rows))
	for _, row := range rows {
		found[row.key] = row
	}
	for _, item := range items {
		r.see(item, found[item.key], at)
	}
	return nil
}

func (r *renewal) holds(row leaseRow, at moment) bool { return row.owner == r.owner && row.live(at) }

// see takes in a row as the store has it: extended by an attempt whose answer was lost, still the owner's, or lost.
func (r *renewal) see(item *renewing, row leaseRow, at moment) {
	item.seen.see(row)
	item.unknown = false
	if i := slices.IndexFunc(item.attempts, func(a attempt[leaseRow]) bool { return a.row.rev == row.rev }); i >= 0 {
		item.applied = &item.attempts[i]
		return
	}
	item.lost = !r.holds(row, at)
}

// run extends the leases.
func (r *renewal) run(ctx context.Context) error {
	items := slices.DeleteFunc(slices.Clone(r.items), func(i *renewing) bool { return !i.open() })
	if r.store.renewal == EachItem {
		return parallel(len(items), itemsInFlight, func(i int) error { return r.extend(ctx, items[i]) })
	}
	chunks := slices.Collect(slices.Chunk(items, maxTransaction))
	return parallel(len(chunks), transactionsInFlight, func(i int) error {
		b := &batch{renewal: r, items: chunks[i], budget: r.store.budget(r.ttl), timeout: r.store.timeout(r.ttl)}
		return b.run(ctx)
	})
}

// extend extends one lease with an UpdateItem of its own.
func (r *renewal) extend(ctx context.Context, item *renewing) error {
	done, err := settle(ctx, r.store, change[leaseRow]{
		key: item.key, rows: r.store.leases, decode: decodeLease, ttl: r.ttl, seen: &item.seen,
		propose: func(seen sighting[leaseRow], at moment) (proposal[leaseRow], error) {
			if !r.holds(seen.row, at) {
				return proposal[leaseRow]{leave, seen.row}, nil
			}
			next, err := seen.row.acquired(r.owner, r.ttl, at, r.store.retention)
			return proposal[leaseRow]{write, next}, err
		},
	})
	if err != nil {
		return err
	}
	item.seen, item.applied, item.answer = done.seen, done.applied, done.answer
	item.lost = done.applied == nil
	return nil
}

// end leaves what was learned in the store's memory, and returns what was extended.
func (r *renewal) end() []Lease {
	leases := make([]Lease, 0, len(r.items))
	for _, item := range r.items {
		switch {
		case item.applied != nil:
			row := item.applied.row
			r.store.leases.keep(item.key, sighting[leaseRow]{row: row}, item.applied.at)
			lease := row.lease()
			lease.tenure = item.applied.at.tenure(r.ttl, row.exp, item.answer)
			leases = append(leases, lease)
		case item.lost:
			r.store.leases.forget(item.key)
		case len(item.seen.unanswered) > 0:
			r.store.leases.keep(item.key, item.seen, item.attempts[len(item.attempts)-1].at)
		}
	}
	return leases
}
