package request

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dynamolease/dynamolease/internal/jitter"
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
	once  bool // allows no second attempt
}

// shortest is the least time that an attempt is worth making in.
const shortest = 10 * time.Millisecond

// NewBudget allows attempts for as long as total, with no delay between two of them longer than maxDelay or a second.
func NewBudget(total, maxDelay time.Duration) *Budget {
	return &Budget{limit: time.Now().Add(total), cap: min(delayCap, maxDelay)}
}

// Once allows one attempt at each request, for as long as total.
func Once(total time.Duration) *Budget {
	return &Budget{limit: time.Now().Add(total), once: true}
}

// Share returns another budget that ends when b does, for attempts at the same time.
func (b *Budget) Share() *Budget { return &Budget{limit: b.limit, cap: b.cap, once: b.once} }

// Timeout is timeout, or what the budget has left if that is less.
func (b *Budget) Timeout(timeout time.Duration) time.Duration {
	return min(timeout, max(shortest, time.Until(b.limit)))
}

// Spent is an error when the budget has nothing left, for who has waited for a turn.
func (b *Budget) Spent() error {
	if time.Until(b.limit) > 0 {
		return nil
	}
	return errors.New("gave up before the first attempt: no time left")
}

// Again waits before the next attempt. Its error, which wraps cause, says why there is none: the context has ended, or
// the budget is used up.
func (b *Budget) Again(ctx context.Context, cause error) error {
	delay := b.delay(ctx)
	if err := Ended(ctx); err != nil {
		return fmt.Errorf("%w (after %d attempts: %w)", err, b.tries, cause)
	}
	if b.once || time.Until(b.limit) < delay+shortest {
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
func (b *Budget) delay(ctx context.Context) time.Duration {
	longest := min(firstDelay<<min(b.tries, 10), b.cap)
	b.tries++
	return longest/2 + jitter.Below(ctx, longest/2+1)
}
