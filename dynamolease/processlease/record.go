package processlease

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A Record says which boot owns the identity of a node, as one write left it. It is a value and can
// be compared with ==.
type Record struct {
	// Node is the stable identity that the lease is for: 1 to 255 bytes of valid UTF-8.
	Node string `json:"node"`

	// Owner is one boot of the node. Each boot draws its own ([uuid.New]). No owner is ever used
	// again.
	Owner uuid.UUID `json:"owner"`

	// Term counts the owners, from 1. It grows by one at every takeover. It is the fencing token.
	Term uint64 `json:"term"`

	// Seq counts the writes, from 1. It grows by one at every acquisition, renewal, takeover and
	// resignation.
	Seq uint64 `json:"seq"`

	// ExpiresAt is the time when the lease ends unless the owner renews it, to the millisecond, on
	// the owner's wall clock. It is there for people to read: it decides nothing.
	ExpiresAt time.Time `json:"expires_at"`

	// Resigned is true if the owner gave the lease up. Any boot may then take over at once.
	Resigned bool `json:"resigned,omitempty"`
}

// Validate returns an error if no lease can look like this one.
func (l Record) Validate() error {
	if err := checkNode(l.Node); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if l.Owner == uuid.Nil || l.Term == 0 || l.Seq == 0 {
		return invalid("owner, term and seq of a lease must not be zero: %v", l)
	}
	return nil
}

func (l Record) String() string {
	return fmt.Sprintf("node %q, owner %v, term %d, seq %d", l.Node, l.Owner, l.Term, l.Seq)
}

// equal compares the expiry as a time, in whatever location.
func (l Record) equal(other Record) bool {
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

const maxNameLength = 255

// checkNode accepts a name that can be part of a key. (On the way to the table, other bytes than
// UTF-8 would be replaced, and two names would become one.)
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
