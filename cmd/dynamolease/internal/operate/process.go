package operate

import (
	"context"
	"fmt"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

// A Process is the process lease of a node. It says which boot owns the node's identity.
type Process struct {
	processlease.Record

	// ExpiresIn is the time until the lease ends without a renewal, negative after that. It
	// compares the owner's wall clock with this machine's, for people to read; nothing depends on
	// it.
	ExpiresIn time.Duration `json:"-"`
}

// Process reads the process lease of a node. It returns [ErrNotFound] if the node never had one.
// Other errors are those of [processlease.Identity.Load].
func (t *Table) Process(ctx context.Context, node string) (Process, error) {
	authority, err := processlease.NewAuthority(t.Client, t.Name, processlease.DefaultTTL)
	if err != nil {
		return Process{}, err
	}
	defer authority.Close()
	store, err := authority.Identity(node)
	if err != nil {
		return Process{}, err
	}
	lease, found, err := store.Load(ctx)
	if err == nil && !found {
		err = fmt.Errorf("%w: node %q has no process lease", ErrNotFound, node)
	}
	return Process{Record: lease, ExpiresIn: time.Until(lease.ExpiresAt)}, err
}

// Text returns a line for each known fact.
func (p Process) Text() string {
	return columns([][]string{
		{"node", Printable(p.Node)},
		{"owner", p.Owner.String()},
		{"term", fmt.Sprint(p.Term)},
		{"seq", fmt.Sprint(p.Seq)},
		{"expires", p.expiry()},
		{"resigned", yes(p.Resigned)},
	})
}

func (p Process) expiry() string {
	const caveat = " (by wall clocks; nothing is decided by it)"
	switch {
	case p.Resigned:
		return "resigned: anybody may take over at once"
	case p.ExpiresIn < 0:
		return fmt.Sprintf("%v ago", (-p.ExpiresIn).Round(100*time.Millisecond)) + caveat
	default:
		return fmt.Sprintf("in %.1f s", p.ExpiresIn.Seconds()) + caveat
	}
}
