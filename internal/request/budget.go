package request

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// Delays between attempts: the first is short, since a conflict or a lost connection is gone at once; the cap keeps a
// throttled caller from sleeping through a lease, as the SDK's own default of up to seven seconds can.
const (
	firstDelay = 20 * time.Millisecond
	delayCap   = time.Second
)

// A Budget bounds the attempts of one call. Not for concurrent use.
type Budget struct {
	limit time.Time
	cap   time.Duration
	tries int
}

// NewBudget allows attempts for as long as total, with no delay between two of them longer than maxDelay or a second.
func NewBudget(total, maxDelay time.Duration) *Budget {
	return &Budget{limit: time.Now().Add(total), cap: min(delayCap, maxDelay)}
}

// Again waits before the next attempt. Its error, which wraps cause, says why there is none: the context has ended, or
// would before the delay is over, or the budget is used up.
func (b *Budget) Again(ctx context.Context, cause error) error {
	delay := b.delay()
	if err := Ended(ctx); err != nil {
		return fmt.Errorf("%w (after %d attempts: %w)", err, b.tries, cause)
	}
	if time.Now().Add(delay).After(b.limit) {
		return fmt.Errorf("gave up after %d attempts: %w", b.tries, cause)
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return fmt.Errorf("%w (after %d attempts: %w)", Ended(ctx), b.tries, cause)
	case <-timer.C:
		return nil
	}
}

// delay grows from attempt to attempt, up to the cap, and is spread over half of its length.
func (b *Budget) delay() time.Duration {
	longest := min(firstDelay<<min(b.tries, 10), b.cap)
	b.tries++
	return longest/2 + rand.N(longest/2+1)
}
