package processlease

import (
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// A head is the row that names the current owner of a node's identity. The zero head stands for no
// head.
type head struct {
	Record
	lasts time.Duration // from a write, while the owner believes in the lease: the ttl of the write
	rev   string        // drawn anew at every write, so that no two writes look alike
}

func (h head) exists() bool { return h.rev != "" }

// stamped returns the head as a process writes it now if that process believes in it for ttl.
func (h head) stamped(ttl time.Duration) head {
	h.lasts = ttl
	h.ExpiresAt = time.UnixMilli(time.Now().Add(ttl).UnixMilli()).UTC()
	return h
}

// created returns the first head of a node.
func created(node string, owner uuid.UUID, ttl time.Duration) head {
	return head{Record: Record{Node: node, Owner: owner, Term: 1, Seq: 1}}.stamped(ttl)
}

// renewed returns the head as its owner renews it. Within a term, lasts never becomes shorter, even
// if the owner uses two ttls.
func (h head) renewed(ttl time.Duration) (head, error) {
	if h.Seq == math.MaxUint64 {
		return head{}, h.malformed(attrSeq, "cannot grow any further")
	}
	next := h.stamped(ttl)
	next.Seq++
	next.lasts = max(h.lasts, ttl)
	return next, nil
}

// succeeded returns the head as another owner takes it over, and the fence that proves it.
func (h head) succeeded(owner uuid.UUID, ttl time.Duration) (head, *Fence, error) {
	next, err := h.renewed(ttl)
	if err != nil {
		return head{}, nil, err
	}
	if h.Term == math.MaxUint64 {
		return head{}, nil, h.malformed(attrTerm, "cannot grow any further")
	}
	next.Term++
	next.Owner, next.Resigned, next.lasts = owner, false, ttl
	fence := &Fence{Predecessor: h.Record, Successor: next.Record}
	return next, fence, fence.Validate()
}

// resigned returns the head as its owner gives it up.
func (h head) resigned() (head, error) {
	next, err := h.renewed(0)
	next.Resigned = true
	return next, err
}

func (h head) malformed(attribute, problem string) error {
	return malformed(headKey(h.Node), attribute, problem)
}

// heldBy reports whether the head is still in the term of own, and its owner has not resigned.
func (h head) heldBy(own head) bool {
	return h.Owner == own.Owner && h.Term == own.Term && !h.Resigned
}

// unchanged returns the condition that the head is still exactly this one, in every field.
func (h head) unchanged() *rowstore.Condition {
	if !h.exists() {
		return &rowstore.Condition{Revs: []string{""}}
	}
	return &rowstore.Condition{Equal: append(h.attributes(), rowstore.Attribute{Name: attrTTL})}
}

// attributes returns a head without its key.
func (h head) attributes() []rowstore.Attribute {
	return append(recordAttributes(h.Record),
		rowstore.Attribute{Name: attrNode, Value: rowstore.Text(h.Node)},
		rowstore.Attribute{Name: attrLasts, Value: rowstore.Number(uint64(h.lasts.Milliseconds()))},
		rowstore.Attribute{Name: rowstore.AttrRev, Value: rowstore.Text(h.rev)},
	)
}

// decodeHead reads the head of a node. An empty row is no head.
func decodeHead(node string, row rowstore.Item) (head, error) {
	if len(row) == 0 {
		return head{}, nil
	}
	d := decode(headKey(node), node, row, maxHeadSize)
	if d.Has(attrTTL) {
		d.Fail(attrTTL, "must not be there: the term would start again")
	}
	h := head{
		Record: decodeRecord(d, node),
		lasts:  time.Duration(d.UpTo(attrLasts, uint64(maxTTL.Milliseconds()))) * time.Millisecond,
		rev:    d.Text(rowstore.AttrRev),
	}
	if d.Err != nil {
		return head{}, d.Err
	}
	return h, nil
}

// A headWrite is a head as a write leaves it. It is the row of a rowstore.Change.
type headWrite struct {
	head
	// fence began the head's term. It is set in the takeover itself. If the answer to the takeover
	// was lost, it is also set in the next write.
	fence *Fence
}

// Rev returns the head's rev.
func (w headWrite) Rev() string { return w.rev }

// WithRev returns the head with another rev.
func (w headWrite) WithRev(rev string) headWrite {
	w.rev = rev
	return w
}

// Supersedes returns false: a write is always conditional on exactly the head that the call saw.
func (w headWrite) Supersedes(headWrite) bool { return false }

// Requires returns nothing: all that a head holds changes with its rev.
func (w headWrite) Requires() []rowstore.Attribute { return nil }

// Attributes returns the whole head, without its key.
func (w headWrite) Attributes() []rowstore.Attribute { return w.attributes() }
