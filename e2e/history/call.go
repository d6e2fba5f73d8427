package history

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// A kind is an operation of the library.
type kind string

const (
	acquire        kind = "Acquire"
	acquireAll     kind = "AcquireAll"
	renew          kind = "Renew"
	release        kind = "Release"
	owners         kind = "Owners"
	heartbeat      kind = "Heartbeat"
	leaveService   kind = "Leave"
	members        kind = "Members"
	drain          kind = "Drain"
	undrain        kind = "Undrain"
	revoke         kind = "Revoke"
	openSession    kind = "OpenSession"
	beatSession    kind = "Session.Heartbeat"
	acquireSession kind = "Session.Acquire"
	releaseSession kind = "Session.Release"
	leaveSession   kind = "Session.Leave"
	closeSession   kind = "Session.Close"
	transact       kind = "Transact"
	checkpoint     kind = "Checkpoint"
	resume         kind = "Resume"
	reap           kind = "Reap"
	sweep          kind = "TTL"     // no operation of the library: DynamoDB deletes a row
	deleteByHand   kind = "by hand" // no operation of the library: somebody deletes a row

	tryAcquire    kind = "TryAcquire"
	acquireBoot   kind = "processlease.Acquire"
	observeRival  kind = "ObserveRival"
	tryTakeover   kind = "TryTakeover"
	manage        kind = "Manager"
	resign        kind = "Resign"
	load          kind = "Load"
	fence         kind = "FenceIncarnation"
	verifyFence   kind = "VerifyFence"
	verifyCurrent kind = "VerifyCurrentParticipant"
)

// A call is one operation of a node, with its arguments and results.
type call struct {
	what       kind
	node       int // its number; boots of process leases come after the nodes
	from, to   int64
	began      time.Time
	ended      time.Time
	partitions []int
	owner      string
	session    string // "node#id" if the caller is a session
	ttl        time.Duration
	under      dynamolease.Lease // the lease of fenced work, or the lease to revoke
	data       []byte            // the checkpoint to write; nil for none

	yes     bool                      // acquired, released, revoked, done
	leases  map[int]dynamolease.Lease // the leases in the answer, by partition
	members []dynamolease.Member
	over    bool // the session was over when the call ended
	err     error

	boot bootCall // of process leases

	mu       sync.Mutex
	met      []fault
	requests int
}

type callKey struct{}

func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// meet notes a fault that a request of the call met.
func (c *call) meet(f fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.met = append(c.met, f)
}

func (c *call) request() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
}

// asked reports whether the call made any request.
func (c *call) asked() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests > 0
}

func (c *call) faults() []fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.met)
}

// unknown reports whether the call returned ErrUnknownOutcome.
func (c *call) unknown() bool { return errors.Is(c.err, dynamolease.ErrUnknownOutcome) }

// tooLate reports whether the call acquired a lease of which nothing was left.
func (c *call) tooLate() bool {
	return c.err != nil && strings.Contains(c.err.Error(), "acquired, but nothing is left")
}

// fenced returns the error with which the store refused fenced work. It returns nil if the call did
// not end with one, or if its outcome is unknown.
func (c *call) fenced() *dynamolease.FencedError {
	var fenced *dynamolease.FencedError
	if errors.As(c.err, &fenced) && !c.unknown() {
		return fenced
	}
	return nil
}

func (c *call) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%5d-%-5d %s-%s node %d %s", c.from, c.to, clockTime(c.began), clockTime(c.ended), c.node, c.what)
	if len(c.partitions) > 0 {
		fmt.Fprintf(&b, " %v", c.partitions)
	}
	if c.session != "" {
		fmt.Fprintf(&b, " in %s", c.session)
	}
	if c.under.Epoch > 0 {
		fmt.Fprintf(&b, " under epoch %d", c.under.Epoch)
	}
	if c.data != nil {
		fmt.Fprintf(&b, " leaving %q", c.data)
	}
	fmt.Fprintf(&b, " -> %v", c.yes)
	for _, p := range slices.Sorted(maps.Keys(c.leases)) {
		fmt.Fprintf(&b, ", %s", leaseText(c.leases[p]))
	}
	for _, m := range c.members {
		fmt.Fprintf(&b, ", %s at %s until %s drained %v", m.Node, m.Address, clockTime(m.ExpiresAt), m.Drained)
	}
	b.WriteString(c.boot.String())
	if c.err != nil {
		fmt.Fprintf(&b, ", error: %v", c.err)
	}
	for _, f := range c.faults() {
		fmt.Fprintf(&b, " [%s]", faultNames[f])
	}
	return b.String()
}

func leaseText(l dynamolease.Lease) string {
	return fmt.Sprintf("%d of %q%s epoch %d until %s at %q", l.Partition, l.Owner, l.Session, l.Epoch, clockTime(l.ExpiresAt), l.Checkpoint)
}

func clockTime(t time.Time) string { return t.UTC().Format("15:04:05.000") }
