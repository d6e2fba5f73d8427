package dynamolease

import (
	"bytes"
	"math"
	"time"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// A leaseRow is the row of one partition. A row without an owner is free; its epoch goes on from
// where it is.
//
// It has two writers with different questions, and each has a compare-and-set of its own. Who owns
// the partition is written on top of the rev that was seen, and leaves a new one. How far the work
// has got is written under owner, epoch and the work that was seen, and leaves another work. So
// neither refuses the other.
type leaseRow struct {
	key rowstore.Key
	holder
	epoch      int64
	exp        int64 // store time in milliseconds, of a lease with its own expiry
	lasts      int64 // the ttl of such a lease in milliseconds; 0 where the row does not say
	ttl        int64 // epoch seconds, only for DynamoDB's own clean-up
	revoked    bool  // nothing extends it any more
	checkpoint []byte
	work       string // the id of the last fenced write
	rev        string
}

func decodeLease(row rowstore.Item) (leaseRow, error) {
	d := decode(row)
	lease := leaseRow{
		key: d.Key, epoch: d.Positive(attrEpoch), rev: d.Text(rowstore.AttrRev), checkpoint: d.Bytes(attrCheckpoint),
	}
	inSession := d.Has(attrSession) || d.Has(attrService)
	switch {
	case !d.Has(attrOwner) && (inSession || d.Has(attrExp)): // half a row: its holder may still be there
		d.Fail(attrOwner, "is missing")
	case !d.Has(attrOwner):
	case inSession:
		lease.owner, lease.session = d.Text(attrOwner), sessionKey(d.Text(attrService), d.Text(attrSession))
		if d.Has(attrExp) {
			d.Fail(attrExp, "must not be there beside a session")
		}
	default:
		lease.owner, lease.exp = d.Text(attrOwner), d.Positive(attrExp)
		if d.Has(attrLasts) {
			lease.lasts = d.Positive(attrLasts)
		}
	}
	if d.Has(attrTTL) {
		lease.ttl = d.Positive(attrTTL)
	}
	if d.Has(attrRevoked) {
		lease.revoked = d.Positive(attrRevoked) > 0
	}
	if d.Has(attrWork) {
		lease.work = d.Text(attrWork)
	}
	if _, ok := partitionOf(d.Key); !ok {
		d.Fail(rowstore.AttrSK, "is not P# and a partition of 10 digits")
	}
	return lease, d.Err
}

// Rev returns the row's rev.
func (r leaseRow) Rev() string { return r.rev }

// WithRev returns the row with another rev.
func (r leaseRow) WithRev(rev string) leaseRow {
	r.rev = rev
	return r
}

// Supersedes is false where the row would go back: to an earlier epoch, to a holder that has
// released it, or to an earlier expiry. It is false, too, where an acquisition would come to a
// second epoch.
func (r leaseRow) Supersedes(pending leaseRow) bool {
	return r.epoch == pending.epoch && (r.owner == "" || r.holder == pending.holder && r.exp >= pending.exp)
}

// Requires has a row that may be thrown away hold no checkpoint: fenced work may have left one since
// the row was seen.
func (r leaseRow) Requires() []rowstore.Attribute {
	if r.ttl > 0 && len(r.checkpoint) == 0 {
		return []rowstore.Attribute{{Name: attrCheckpoint}}
	}
	return nil
}

// Attributes returns all that an acquisition, extension or release decides. Checkpoint and work
// stay as they are.
func (r leaseRow) Attributes() []rowstore.Attribute {
	list := []rowstore.Attribute{
		{Name: attrEpoch, Value: rowstore.Number(r.epoch)}, {Name: rowstore.AttrRev, Value: rowstore.Text(r.rev)},
		{Name: attrOwner}, {Name: attrExp}, {Name: attrService}, {Name: attrSession}, {Name: attrTTL}, {Name: attrRevoked},
		{Name: attrLasts},
	}
	if r.owner != "" {
		list[2].Value = rowstore.Text(r.owner)
	}
	if r.exp > 0 {
		list[3].Value = rowstore.Number(r.exp)
	}
	if r.inSession() {
		list[4].Value = rowstore.Text(r.session.PK[len(memberPrefix):])
		list[5].Value = rowstore.Text(r.session.SK[len(nodePrefix):])
	}
	if r.ttl > 0 {
		list[6].Value = rowstore.Number(r.ttl)
	}
	if r.revoked {
		list[7].Value = rowstore.Number[int64](1)
	}
	if r.lasts > 0 {
		list[8].Value = rowstore.Number(r.lasts)
	}
	return list
}

// unexpired reports whether a lease with its own expiry may still be live. It is not only when it
// has surely expired.
func (r leaseRow) unexpired(at rowstore.Moment) bool {
	return r.owner != "" && !r.inSession() && r.exp > at.Earliest()
}

// watched returns what others see of the row of a lease with its own expiry.
func (r leaseRow) watched() watched { return watched{r.key, r.rev, r.exp, r.lasts} }

// heldBy reports whether h has the lease and may keep it.
func (r leaseRow) heldBy(h holder) bool { return r.holder == h && !r.revoked }

// acquired returns the row as h takes it or, with extend, keeps it. It is only for a row that
// nobody else holds.
func (r leaseRow) acquired(h holder, extend bool, ttl time.Duration, at rowstore.Moment, keep retention) (leaseRow, error) {
	next := r
	next.holder, next.revoked = h, false
	switch {
	case extend, r.rev == "": // where there is no row, r has the first epoch
	case r.epoch == math.MaxInt64:
		return r, malformed(r.key, attrEpoch, "cannot grow any further")
	default:
		next.epoch++
	}
	if h.inSession() {
		// The session decides whether it is live, and so the row must stay for as long: it has no ttl.
		next.exp, next.lasts, next.ttl = 0, 0, 0
		return next, nil
	}
	next.exp, next.lasts = at.Expiry(ttl), ttl.Milliseconds()
	if extend {
		next.exp = max(next.exp, r.exp)
	}
	return next.dated(next.exp, keep), nil
}

// freed returns the row without a holder. It keeps its epoch.
func (r leaseRow) freed(at rowstore.Moment, keep retention) leaseRow {
	r.holder, r.exp, r.lasts, r.revoked = holder{}, 0, 0, false
	return r.dated(at.Latest(), keep)
}

// A retention is for how long the row of a lease stays after its last use.
type retention struct {
	row        time.Duration
	checkpoint time.Duration // of a row with a checkpoint; 0 stands for ever
}

// dated returns the row with the ttl that follows from its last use.
func (r leaseRow) dated(lastUse int64, keep retention) leaseRow {
	switch {
	case len(r.checkpoint) == 0:
		r.ttl = cleanup(lastUse, keep.row)
	case keep.checkpoint > 0:
		r.ttl = cleanup(lastUse, keep.checkpoint)
	default:
		r.ttl = 0
	}
	return r
}

// lease returns what the caller gets to see, except for how long it may count on it.
func (r leaseRow) lease() Lease {
	partition, _ := partitionOf(r.key)
	lease := Lease{
		Group:      r.key.PK[len(leasePrefix):],
		Partition:  partition,
		Owner:      r.owner,
		Epoch:      r.epoch,
		Checkpoint: bytes.Clone(r.checkpoint),
		revoked:    r.revoked,
	}
	if r.inSession() {
		lease.Session = r.session.SK[len(nodePrefix):]
	} else if r.exp > 0 {
		lease.ExpiresAt = time.UnixMilli(r.exp).UTC()
	}
	return lease
}

// cleanup returns the ttl attribute of a row that is of no use after exp: epoch seconds, rounded
// up.
func cleanup(exp int64, retention time.Duration) int64 {
	return (exp+retention.Milliseconds())/1000 + 1
}
