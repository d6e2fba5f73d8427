package request

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dynamolease/dynamolease/internal/jitter"
)

// Delays between attempts. The first is short, because a lost connection is gone at once. The cap
// prevents that a throttled caller sleeps through a lease, which can happen with the SDK's own
// delays of up to seven seconds.
const (
	firstDelay = 20 * time.Millisecond
	delayCap   = time.Second
)

// Delays after a conflict. The transaction that has locked the row ends soon, so a delay that grows
// would only miss the gap before the next one.
const (
	conflictDelay  = 20 * time.Millisecond
	conflictSpread = 30 * time.Millisecond
)

// A Budget bounds the attempts of one call. It is not safe for concurrent use.
type Budget struct {
	limit time.Time
	cap   time.Duration
	once  bool  // allows no second attempt at a request, except after a conflict
	pace  *Pace // nil for a call that waits for no turn

	ttl time.Duration // of what a call that goes first keeps; zero for any other
	end time.Time     // of that

	turn     bool // the call has had its turn, and was not throttled since
	attempts int
	waits    int           // that make the next one longer
	least    time.Duration // that an attempt must get
	cause    error         // why the latest attempt is not the last
}

// NewBudget returns a budget that allows attempts until total has passed. No delay between two of
// them is longer than maxDelay or a second.
func NewBudget(total, maxDelay time.Duration) *Budget {
	return &Budget{limit: time.Now().Add(total), cap: min(delayCap, maxDelay)}
}

// Paced has the call wait for its turns at a pace.
func (b *Budget) Paced(pace *Pace) *Budget {
	b.pace = pace
	return b
}

// First is for a call that keeps something of a ttl which ends after left: it goes first, and waits
// for no turn. If the store throttles it, it spreads its attempts over the time that is left. The
// less that is, the more often it tries. So such calls do not keep each other from getting through,
// and one that has been unlucky so far goes before the others.
func (b *Budget) First(ttl, left time.Duration) *Budget {
	b.ttl, b.end = ttl, time.Now().Add(left)
	return b
}

// Once returns a budget that allows one attempt at each request, until total has passed. An attempt
// that was in conflict with a transaction does not count.
func Once(total time.Duration) *Budget {
	return &Budget{limit: time.Now().Add(total), once: true}
}

// Share returns another budget that ends when b ends, for attempts that run at one time.
func (b *Budget) Share() *Budget {
	return &Budget{limit: b.limit, cap: b.cap, once: b.once, pace: b.pace, ttl: b.ttl, end: b.end}
}

var errNoTime = errors.New("no time left")

// Turn waits until the call may make an attempt. A paced call waits before its first attempt, and
// again after each one that the store throttled. It sends anything else without a wait.
func (b *Budget) Turn(ctx context.Context, usual time.Duration) error {
	if b.turn || b.pace == nil {
		return nil
	}
	b.least = usual / 4
	if !b.pace.Turn(ctx, b.limit.Add(-b.least)) {
		if b.cause == nil {
			b.cause = errThrottled
		}
		return b.spent(ctx)
	}
	b.turn = true
	return nil
}

// Await calls wait, which waits for something else than an answer, with a context that ends with the
// budget. What that context holds back until done is called must end with it, too.
func (b *Budget) Await(ctx context.Context, wait func(context.Context) (done func(), err error)) (func(), error) {
	within, cancel := context.WithDeadline(ctx, b.limit)
	done, err := wait(within)
	switch {
	case err == nil:
		return func() { done(); cancel() }, nil
	case ctx.Err() == nil && within.Err() != nil:
		err = b.spent(ctx)
	}
	cancel()
	return nil, err
}

// Begin counts an attempt, and returns its timeout: the usual one, or what is left of the budget. An
// attempt that would get less than a quarter of the usual timeout is not worth making: Begin then
// returns an error.
func (b *Budget) Begin(ctx context.Context, usual time.Duration) (timeout time.Duration, err error) {
	b.least = usual / 4
	left := time.Until(b.limit)
	if ctx.Err() != nil || left <= 0 || left < b.least {
		return 0, b.spent(ctx)
	}
	b.attempts++
	return min(usual, left), nil
}

// Missed notes why an attempt is not the last.
func (b *Budget) Missed(cause error) {
	b.cause = cause
	b.turn = b.turn && !Throttled(cause)
}

// Again waits before the next attempt. It returns an error if there is no next attempt, because the
// context has ended or the budget is used up. The error wraps cause.
func (b *Budget) Again(ctx context.Context, cause error) error {
	b.Missed(cause)
	conflict := Conflicting(cause) && !Throttled(cause)
	delay := b.delay(ctx, conflict)
	if ctx.Err() != nil || b.once && !conflict || time.Until(b.limit) < delay+b.least {
		return b.spent(ctx)
	}
	if err := Sleep(ctx, delay); err != nil {
		return b.spent(ctx)
	}
	return nil
}

// spent returns the error of a call that makes no further attempt.
func (b *Budget) spent(ctx context.Context) error {
	attempts := fmt.Sprintf("after %d attempts", b.attempts)
	switch b.attempts {
	case 0:
		attempts = "before the first attempt"
	case 1:
		attempts = "after 1 attempt"
	}
	ended, cause := Ended(ctx), b.cause
	switch {
	case ended != nil && cause != nil:
		return fmt.Errorf("%w (%s: %w)", ended, attempts, cause)
	case ended != nil:
		return fmt.Errorf("%w (%s)", ended, attempts)
	case cause == nil:
		cause = errNoTime
	}
	return fmt.Errorf("gave up %s: %w", attempts, cause)
}

// delay returns the next delay. It grows from attempt to attempt, up to the cap, but not
// after a conflict. Jitter spreads it over half of its length.
func (b *Budget) delay(ctx context.Context, conflict bool) time.Duration {
	if conflict {
		return conflictDelay + jitter.Below(ctx, conflictSpread+1)
	}
	longest := min(firstDelay<<min(b.waits, 10), b.cap)
	b.waits++
	if left := max(0, time.Until(b.end)); b.ttl > 0 && Throttled(b.cause) {
		longest = max(firstDelay, time.Duration(left.Seconds()/2/b.ttl.Seconds()*float64(left)))
		if b.attempts == 1 { // the call has another in any case
			longest = max(0, min(longest, time.Until(b.limit)-b.least)) // the process may have been frozen
		}
	}
	return longest/2 + jitter.Below(ctx, longest/2+1)
}

// Sleep waits for d, or until the context ends. It returns the context's error if the context
// ended.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return Ended(ctx) // also if both came at once
}
