package processlease

import (
	"math"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// A head is the row that says who owns a node's identity now. The zero head stands for none.
type head struct {
	Lease
	lasts time.Duration // how long after a write its owner believes in the lease: the ttl that it was written with
	rev   string        // drawn anew at every write, so that no two writes look the same
}

func (h head) exists() bool { return h.rev != "" }

// stamped returns the head as it is written now, by a process that believes in it for ttl.
func (h head) stamped(ttl time.Duration) head {
	h.lasts = ttl
	h.ExpiresAt = time.UnixMilli(time.Now().Add(ttl).UnixMilli()).UTC()
	return h
}

// created returns the first head of a node.
func created(node string, owner uuid.UUID, ttl time.Duration) head {
	return head{Lease: Lease{Node: node, Owner: owner, Term: 1, Seq: 1}}.stamped(ttl)
}

// renewed returns the head as its owner renews it. The time for which the owner believes in it gets no
// shorter within a term, even if the owner uses two ttls.
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
	fence := &Fence{Predecessor: h.Lease, Successor: next.Lease}
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

// heldBy reports whether the head is still in the term of own, and not given up.
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

// A headWrite is a head as a write leaves it.
type headWrite struct {
	head
	// fence is how the head's term began: with the takeover itself, and with the next write where the
	// answer to the takeover was lost.
	fence *Fence
}

// Rev returns the head's rev.
func (w headWrite) Rev() string { return w.rev }

// WithRev returns the head with another rev.
func (w headWrite) WithRev(rev string) headWrite {
	w.rev = rev
	return w
}

// Supersedes is always false: a write is conditional on exactly the head that was seen.
func (w headWrite) Supersedes(headWrite) bool { return false }

// Attributes returns the whole head, without its key.
func (w headWrite) Attributes() []rowstore.Attribute { return w.attributes() }

// fenceWrites returns the writes of a fence, under both of its keys, where there is none.
func fenceWrites(rows *rowstore.Table, f *Fence) []types.TransactWriteItem {
	none := rowstore.Condition{Revs: []string{""}}
	node := f.Successor.Node
	return []types.TransactWriteItem{
		{Update: rows.Update(predecessorKey(node, f.Predecessor.Owner), none, f.attributes())},
		{Update: rows.Update(successorKey(node, f.Successor.Term), none, f.attributes())},
	}
}
