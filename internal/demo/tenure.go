package demo

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

var (
	errExpired  = errors.New("the lease ran out")
	errTaken    = errors.New("the lease was taken")
	errReleased = errors.New("the lease was released")
)

// settleTime is how long two readings of the clock may lie apart for what was read in between to belong to either.
const settleTime = time.Millisecond

// A tenure is a worker's ownership of one partition: the lease as last extended, and how far the work has got. Its
// context ends with it. Safe for concurrent use.
type tenure struct {
	partition int
	epoch     int64
	ctx       context.Context
	cancel    context.CancelCauseFunc
	clock     clock

	mu     sync.Mutex
	lease  dynamolease.Lease
	expiry *time.Timer // ends the context at the lease's deadline, with no request having to return
	stage  stage
}

type stage int

const (
	waiting stage = iota
	working
	finished
)

func newTenure(ctx context.Context, clock clock, lease dynamolease.Lease) *tenure {
	t := &tenure{partition: lease.Partition, epoch: lease.Epoch, clock: clock, lease: lease}
	t.ctx, t.cancel = context.WithCancelCause(ctx)
	t.expiry = time.AfterFunc(lease.Remaining(), func() { t.cancel(errExpired) })
	return t
}

// holds tells whether the worker still holds the lease, and when it looked. The clock is read first, so that a process
// that is stopped in between and goes on later does not find a lease at an instant when it had none.
func (t *tenure) holds() (at instant, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at = t.clock.now()
	return at, t.heldLocked()
}

func (t *tenure) heldLocked() bool { return t.ctx.Err() == nil && t.lease.Remaining() > 0 }

func (t *tenure) current() dynamolease.Lease {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lease
}

// extend makes the tenure last as long as a renewed lease, unless it is over.
func (t *tenure) extend(lease dynamolease.Lease) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.heldLocked() {
		t.lease = lease
		t.expiry.Reset(lease.Remaining())
	}
}

// begin takes the tenure up for work. It is false if that was done before, or the tenure is over.
func (t *tenure) begin() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stage != waiting || !t.heldLocked() {
		return false
	}
	t.stage = working
	return true
}

// finish notes that there is nothing left to do.
func (t *tenure) finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stage = finished
}

func (t *tenure) isFinished() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stage == finished
}

// giveUp ends the tenure unless it is being worked on.
func (t *tenure) giveUp() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stage == working {
		return false
	}
	t.endLocked(errReleased)
	return true
}

// end ends the tenure, and so its work: holds is false from now on.
func (t *tenure) end(cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.endLocked(cause)
}

func (t *tenure) endLocked(cause error) {
	t.expiry.Stop()
	t.cancel(cause)
}

// deadline is until when a worker counts on a lease, at most a moment too late: when the process was stopped between
// the readings they are taken again.
func (c clock) deadline(lease dynamolease.Lease) instant {
	for {
		before := c.now()
		remaining := lease.Remaining()
		if after := c.now(); after.sub(before) < settleTime {
			return after.add(remaining)
		}
	}
}
