package processlease

import (
	"math"
	"time"

	"github.com/google/uuid"
)

// A head is the row that says who owns a node's identity now. The zero head stands for none.
type head struct {
	Lease
	lasts time.Duration // how long after a write its owner believes in the lease: the ttl that it was written with
	rev   string        // drawn anew at every write, so that no two writes look the same
}

func (h head) exists() bool { return h.rev != "" }

// stamped is the head as it is written now, by a process that believes in it for ttl.
func (h head) stamped(ttl time.Duration) head {
	h.lasts = ttl
	h.rev = uuid.NewString()
	h.ExpiresAt = time.UnixMilli(time.Now().Add(ttl).UnixMilli()).UTC()
	return h
}

// created is the first head of a node.
func created(node string, owner uuid.UUID, ttl time.Duration) head {
	return head{Lease: Lease{Node: node, Owner: owner, Term: 1, Seq: 1}}.stamped(ttl)
}

// renewed is the head as its owner renews it. What the owner believes in gets no shorter within a term, even if the owner
// goes by two ttls.
func (h head) renewed(ttl time.Duration) (head, error) {
	if h.Seq == math.MaxUint64 {
		return head{}, h.malformed(attrSeq, "cannot grow any further")
	}
	next := h.stamped(ttl)
	next.Seq++
	next.lasts = max(h.lasts, ttl)
	return next, nil
}

// succeeded is the head as another owner takes it over, and the fence that proves it.
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

// resigned is the head as its owner gives it up.
func (h head) resigned() (head, error) {
	next, err := h.renewed(0)
	next.Resigned = true
	return next, err
}

func (h head) malformed(attribute, problem string) error {
	return malformed(headKey(h.Node), attribute, problem)
}

// heldBy tells whether the head is still in the term of own, and not given up.
func (h head) heldBy(own head) bool {
	return h.Owner == own.Owner && h.Term == own.Term && !h.Resigned
}
