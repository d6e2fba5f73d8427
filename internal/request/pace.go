package request

import (
	"context"
	"sync"
	"time"

	"github.com/dynamolease/dynamolease/internal/jitter"
)

// A Pace spaces out the calls of a process while the store throttles it. They share it, so that an
// answer of throttling slows down all of them, and not only the call that got it. Each such answer
// doubles the gap between calls. An answer that goes through takes a third of the gap away. So
// about two of three requests go through, however many processes there are and however little the
// store lets through. Answers that go through in a row take ever more away: the store is well again.
// A Pace is safe for concurrent use; nil is a Pace that holds nothing up.
type Pace struct {
	mu      sync.Mutex
	gap     time.Duration // zero while the store lets everything through
	latest  time.Time     // the latest turn
	changed time.Time     // the gap: answers to earlier requests say nothing of it
	through int           // so many answers in a row went through
	faster  chan struct{} // closed when the gap gets shorter
}

// The first and the longest gap. One that ends up below the shortest is none.
const (
	firstGap    = 250 * time.Millisecond
	longestGap  = 30 * time.Second
	shortestGap = 10 * time.Millisecond
)

// NewPace returns a Pace without a gap.
func NewPace() *Pace { return &Pace{faster: make(chan struct{})} }

// Turn waits for the caller's turn. It reports false if that does not come before end, or before the
// context ends.
func (p *Pace) Turn(ctx context.Context, end time.Time) bool {
	if p == nil {
		return true
	}
	for {
		wait, faster := p.next(ctx)
		if wait <= 0 {
			return true
		}
		timer := time.NewTimer(min(wait, time.Until(end)))
		select {
		case <-timer.C:
		case <-faster:
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil || !time.Now().Before(end) {
			return false
		}
	}
}

// next returns how long the next turn is away. If it is there, the caller has it.
func (p *Pace) next(ctx context.Context) (wait time.Duration, faster <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if wait = p.latest.Add(p.gap).Sub(now); p.gap > 0 && wait > 0 {
		return wait + jitter.Below(ctx, p.gap/4+1), p.faster
	}
	p.latest = now
	return 0, nil
}

// Answered takes in how the store answered a request that was sent at a time.
func (p *Pace) Answered(sent time.Time, outcome Outcome, err error) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case sent.Before(p.changed):
	case Throttled(err):
		p.gap, p.changed, p.through = min(longestGap, max(firstGap, 2*p.gap)), time.Now(), 0
	case p.gap > 0 && (outcome == Done || outcome == Refused):
		p.gap, p.changed = p.gap*2/3>>min(2*max(0, p.through-1), 32), time.Now()
		p.through++
		if p.gap < shortestGap {
			p.gap = 0
		}
		close(p.faster)
		p.faster = make(chan struct{})
	}
}
