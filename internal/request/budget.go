package request

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dynamolease/dynamolease/internal/jitter"
)

// Delays between attempts. The first is short, because a conflict or a lost connection is gone at
// once. The cap prevents that a throttled caller sleeps through a lease, which can happen with
// the SDK's own delays of up to seven seconds.
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
	tries int
	grown int  // how often the delay has doubled
	once  bool // allows no second attempt, except after a conflict
}

// shortest is the least time in which an attempt is worth making.
const shortest = 10 * time.Millisecond

// NewBudget returns a budget that allows attempts until total has passed. No delay between two of
// them is longer than maxDelay or a second.
func NewBudget(total, maxDelay time.Duration) *Budget {
	return &Budget{limit: time.Now().Add(total), cap: min(delayCap, maxDelay)}
}

// Once returns a budget that allows one attempt at each request, until total has passed. An attempt
// that was in conflict with a transaction does not count.
func Once(total time.Duration) *Budget {
	return &Budget{limit: time.Now().Add(total), once: true}
}

// Share returns another budget that ends when b ends, for attempts that run at one time.
func (b *Budget) Share() *Budget { return &Budget{limit: b.limit, cap: b.cap, once: b.once} }

// Timeout returns timeout, or the rest of the budget (at least 10 ms) if that is shorter.
func (b *Budget) Timeout(timeout time.Duration) time.Duration {
	return min(timeout, max(shortest, time.Until(b.limit)))
}

// Spent returns an error if the budget has no time left. A caller that waited for its turn checks
// it.
func (b *Budget) Spent() error {
	if time.Until(b.limit) > 0 {
		return nil
	}
	return errors.New("gave up before the first attempt: no time left")
}

// Again waits before the next attempt. It returns an error if there is no next attempt, because the
// context has ended or the budget is used up. The error wraps cause.
func (b *Budget) Again(ctx context.Context, cause error) error {
	b.tries++
	conflict := Conflicting(cause)
	delay := b.delay(ctx, conflict)
	if err := Ended(ctx); err != nil {
		return fmt.Errorf("%w (after %d attempts: %w)", err, b.tries, cause)
	}
	if b.once && !conflict || time.Until(b.limit) < delay+shortest {
		return fmt.Errorf("gave up after %d attempts: %w", b.tries, cause)
	}
	if err := Sleep(ctx, delay); err != nil {
		return fmt.Errorf("%w (after %d attempts: %w)", err, b.tries, cause)
	}
	return nil
}

// delay returns the next delay. It grows from attempt to attempt, up to the cap, but not after a
// conflict. Jitter spreads it over half of its length.
func (b *Budget) delay(ctx context.Context, conflict bool) time.Duration {
	if conflict {
		return conflictDelay + jitter.Below(ctx, conflictSpread+1)
	}
	longest := min(firstDelay<<min(b.grown, 10), b.cap)
	b.grown++
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
