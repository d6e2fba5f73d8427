package dynamolease

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// A leaseRow is the row of one partition. A row without an owner is free; its epoch goes on from where it is.
type leaseRow struct {
	key   key
	owner string // empty when free
	epoch int64
	exp   int64 // store time in milliseconds, while there is an owner
	ttl   int64 // epoch seconds, only for DynamoDB's own clean-up
	rev   string
}

func decodeLease(row item) (leaseRow, error) {
	d := decode(row)
	lease := leaseRow{key: d.key, epoch: d.positive(attrEpoch), rev: d.text(attrRev)}
	if d.has(attrOwner) {
		lease.owner = d.text(attrOwner)
		lease.exp = d.positive(attrExp)
	}
	if d.has(attrTTL) {
		lease.ttl = d.positive(attrTTL)
	}
	if d.err == nil {
		_, d.err = lease.partition()
	}
	return lease, d.err
}

func (r leaseRow) revision() string { return r.rev }

func (r leaseRow) revised(rev string) leaseRow {
	r.rev = rev
	return r
}

func (r leaseRow) attributes() []attribute {
	list := []attribute{
		{attrEpoch, numberValue(r.epoch)}, {attrTTL, numberValue(r.ttl)}, {attrRev, stringValue(r.rev)},
		{attrOwner, nil}, {attrExp, nil},
	}
	if r.owner != "" {
		list[3].value = stringValue(r.owner)
		list[4].value = numberValue(r.exp)
	}
	return list
}

// live tells whether the lease may still be live: it is not only when it has surely expired.
func (r leaseRow) live(at moment) bool {
	return r.owner != "" && r.exp > at.earliest()
}

// acquired is the row as owner takes or extends it. Only for a row that no other owner holds.
func (r leaseRow) acquired(owner string, ttl time.Duration, at moment, retention time.Duration) (leaseRow, error) {
	extension := r.owner == owner && r.live(at)
	next := r
	next.owner = owner
	switch {
	case extension:
	case r.rev == "":
		// Above any epoch that an older row of this partition can have had: see "Epochs" in the package documentation.
		next.epoch = at.latest()
	case r.epoch == math.MaxInt64:
		return r, r.key.malformed(attrEpoch, "cannot grow any further")
	default:
		next.epoch++
	}
	next.exp = at.expiry(ttl)
	if extension {
		next.exp = max(next.exp, r.exp)
	}
	next.ttl = cleanup(next.exp, retention)
	return next, nil
}

// freed is the row without an owner. It keeps its epoch.
func (r leaseRow) freed(at moment, retention time.Duration) leaseRow {
	r.owner, r.exp = "", 0
	r.ttl = cleanup(at.latest(), retention)
	return r
}

// partition is the number in the row's sort key.
func (r leaseRow) partition() (int, error) {
	digits, padded := r.key.sk, len(r.key.sk) == partitionLen
	if padded {
		digits = digits[len("P#"):]
	}
	n, err := strconv.Atoi(digits)
	if err != nil || fmt.Sprintf(partitionKey, n) != r.key.sk {
		return 0, r.key.malformed(attrSK, "is not P# and a partition of 10 digits")
	}
	return n, nil
}

// lease is what the caller gets to see.
func (r leaseRow) lease() Lease {
	partition, _ := r.partition()
	return Lease{
		Group:     r.key.pk[len(leasePrefix):],
		Partition: partition,
		Owner:     r.owner,
		Epoch:     r.epoch,
		ExpiresAt: time.UnixMilli(r.exp).UTC(),
	}
}

// cleanup is the ttl attribute of a row that is of no use after exp: epoch seconds, rounded up.
func cleanup(exp int64, retention time.Duration) int64 {
	return (exp+retention.Milliseconds())/1000 + 1
}
