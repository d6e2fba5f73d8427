package processlease

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A Lease is the record of who owns the identity of a node: one write of it. It is a value, and can be compared with ==.
type Lease struct {
	// Node is the stable identity that the lease is for: 1 to 255 bytes of valid UTF-8.
	Node string `json:"node"`

	// Owner is one boot of the node. Each boot draws its own ([uuid.New]) and no owner is ever used again.
	Owner uuid.UUID `json:"owner"`

	// Term counts the owners, from 1: it grows by one at every takeover, and is the fencing token.
	Term uint64 `json:"term"`

	// Seq counts the writes, from 1: it grows by one at every acquisition, renewal, takeover and resignation.
	Seq uint64 `json:"seq"`

	// ExpiresAt is when the lease ends unless it is renewed, to the millisecond on the wall clock of its owner. It is
	// there for people to read: nothing is decided by it.
	ExpiresAt time.Time `json:"expires_at"`

	// Resigned says that the owner gave the lease up: anybody may take over at once.
	Resigned bool `json:"resigned,omitempty"`
}

// Validate tells whether there can be such a lease.
func (l Lease) Validate() error {
	if err := checkNode(l.Node); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if l.Owner == uuid.Nil || l.Term == 0 || l.Seq == 0 {
		return invalid("owner, term and seq of a lease must not be zero: %v", l)
	}
	return nil
}

func (l Lease) String() string {
	return fmt.Sprintf("node %q, owner %v, term %d, seq %d", l.Node, l.Owner, l.Term, l.Seq)
}

// equal compares the expiry as a time, whatever its location.
func (l Lease) equal(other Lease) bool {
	same := l.ExpiresAt.Equal(other.ExpiresAt)
	other.ExpiresAt = l.ExpiresAt
	return same && l == other
}

// A Participant is one boot of one node.
type Participant struct {
	Node  string    `json:"node"`
	Owner uuid.UUID `json:"owner"`
}

func (p Participant) String() string { return fmt.Sprintf("node %q, owner %v", p.Node, p.Owner) }

func (p Participant) check() error {
	if err := checkNode(p.Node); err != nil {
		return err
	}
	return checkOwner(p.Owner)
}

// An Outcome is what came of trying to get a lease.
type Outcome struct {
	Lease    Lease // this boot's own, or the one of the boot that holds it
	Acquired bool  // it is this boot's own

	// Fence is the proof that the boot before was superseded, if the lease was taken over from one.
	Fence *Fence

	own *acquired // nil unless acquired
}

const maxNameLength = 255

// checkNode accepts what can be part of a key. (Bytes that are not UTF-8 would be replaced on their way to the table,
// and two names become one.)
func checkNode(node string) error {
	switch {
	case node == "":
		return &dynamolease.ArgumentError{Argument: "node", Problem: "must not be empty"}
	case len(node) > maxNameLength:
		return &dynamolease.ArgumentError{Argument: "node", Problem: fmt.Sprintf("has %d bytes, at most %d are allowed", len(node), maxNameLength)}
	case !utf8.ValidString(node):
		return &dynamolease.ArgumentError{Argument: "node", Problem: "must be valid UTF-8"}
	}
	return nil
}

func checkOwner(owner uuid.UUID) error {
	if owner == uuid.Nil {
		return &dynamolease.ArgumentError{Argument: "owner", Problem: "must not be the nil UUID"}
	}
	return nil
}
