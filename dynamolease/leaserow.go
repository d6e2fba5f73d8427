package dynamolease

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"
)

// A holder is who holds a lease: an owner, until an expiry of the lease's own, or for as long as a session lives.
type holder struct {
	owner   string // empty when nobody does
	session key    // of the session's row; zero for a lease with its own expiry
}

// inSession tells whether the lease lives as long as a session.
func (h holder) inSession() bool { return h.session != key{} }

// A leaseRow is the row of one partition. A row without an owner is free; its epoch goes on from where it is.
type leaseRow struct {
	key key
	holder
	epoch      int64
	exp        int64 // store time in milliseconds, of a lease with its own expiry
	ttl        int64 // epoch seconds, only for DynamoDB's own clean-up
	revoked    bool  // it is not to be extended any more
	checkpoint []byte
	work       string // the id of the last fenced transaction
	rev        string
}

func decodeLease(row item) (leaseRow, error) {
	d := decode(row)
	lease := leaseRow{key: d.key, epoch: d.positive(attrEpoch), rev: d.text(attrRev), checkpoint: d.bytes(attrCheckpoint)}
	if d.has(attrOwner) {
		lease.owner = d.text(attrOwner)
	}
	switch {
	case lease.owner == "":
	case d.has(attrSession) || d.has(attrService):
		lease.session = sessionKey(d.text(attrService), d.text(attrSession))
	default:
		lease.exp = d.positive(attrExp)
	}
	if d.has(attrTTL) {
		lease.ttl = d.positive(attrTTL)
	}
	if d.has(attrRevoked) {
		lease.revoked = d.positive(attrRevoked) > 0
	}
	if d.has(attrWork) {
		lease.work = d.text(attrWork)
	}
	if d.err == nil {
		_, d.err = lease.partition()
	}
	return lease, d.err
}

func (r leaseRow) revision() string { return r.rev }

// supersedes is false where the row would go back: to an earlier epoch, to a holder who has released it, or to an earlier
// expiry; and where an acquisition would come to a second epoch.
func (r leaseRow) supersedes(former leaseRow) bool {
	return r.epoch == former.epoch && (r.owner == "" || r.holder == former.holder && r.exp >= former.exp)
}

func (r leaseRow) revised(rev string) leaseRow {
	r.rev = rev
	return r
}

// attributes are all that an acquisition, extension or release decides. Checkpoint and work stay as they are.
func (r leaseRow) attributes() []attribute {
	list := []attribute{
		{attrEpoch, numberValue(r.epoch)}, {attrRev, stringValue(r.rev)},
		{attrOwner, nil}, {attrExp, nil}, {attrService, nil}, {attrSession, nil}, {attrTTL, nil}, {attrRevoked, nil},
	}
	if r.owner != "" {
		list[2].value = stringValue(r.owner)
	}
	if r.exp > 0 {
		list[3].value = numberValue(r.exp)
	}
	if r.inSession() {
		list[4].value = stringValue(r.session.pk[len(memberPrefix):])
		list[5].value = stringValue(r.session.sk[len(nodePrefix):])
	}
	if r.ttl > 0 {
		list[6].value = numberValue(r.ttl)
	}
	if r.revoked {
		list[7].value = numberValue(1)
	}
	return list
}

// unexpired tells whether a lease with its own expiry may still be live: it is not only when it has surely expired.
func (r leaseRow) unexpired(at moment) bool {
	return r.owner != "" && !r.inSession() && r.exp > at.earliest()
}

// heldBy tells whether h has the lease and may keep it.
func (r leaseRow) heldBy(h holder) bool { return r.holder == h && !r.revoked }

// acquired is the row as h takes or, with extend, keeps it. Only for a row that nobody else holds.
func (r leaseRow) acquired(h holder, extend bool, ttl time.Duration, at moment, retention time.Duration) (leaseRow, error) {
	next := r
	next.holder, next.revoked = h, false
	switch {
	case extend, r.rev == "": // where there is no row, r has the first epoch
	case r.epoch == math.MaxInt64:
		return r, r.key.malformed(attrEpoch, "cannot grow any further")
	default:
		next.epoch++
	}
	if h.inSession() {
		// Whether it is live is the session's matter, and so the row must stay for as long: it has no ttl.
		next.exp, next.ttl = 0, 0
		return next, nil
	}
	next.exp = at.expiry(ttl)
	if extend {
		next.exp = max(next.exp, r.exp)
	}
	next.ttl = cleanup(next.exp, retention)
	return next, nil
}

// freed is the row without a holder. It keeps its epoch.
func (r leaseRow) freed(at moment, retention time.Duration) leaseRow {
	r.holder, r.exp, r.revoked = holder{}, 0, false
	r.ttl = cleanup(at.latest(), retention)
	return r
}

// partition is the number in the row's sort key.
func (r leaseRow) partition() (int, error) {
	digits, ok := strings.CutPrefix(r.key.sk, "P#")
	n, err := strconv.ParseUint(digits, 10, 63) // takes digits only
	if !ok || err != nil || len(r.key.sk) != partitionLen {
		return 0, r.key.malformed(attrSK, "is not P# and a partition of 10 digits")
	}
	return int(n), nil
}

// lease is what the caller gets to see, except for how long it may count on it.
func (r leaseRow) lease() Lease {
	partition, _ := r.partition()
	lease := Lease{
		Group:      r.key.pk[len(leasePrefix):],
		Partition:  partition,
		Owner:      r.owner,
		Epoch:      r.epoch,
		Checkpoint: bytes.Clone(r.checkpoint),
		revoked:    r.revoked,
	}
	if r.inSession() {
		lease.Session = r.session.sk[len(nodePrefix):]
	} else if r.exp > 0 {
		lease.ExpiresAt = time.UnixMilli(r.exp).UTC()
	}
	return lease
}

// cleanup is the ttl attribute of a row that is of no use after exp: epoch seconds, rounded up.
func cleanup(exp int64, retention time.Duration) int64 {
	return (exp+retention.Milliseconds())/1000 + 1
}
