package operate

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A LimitError is returned when something took longer than a flag of the command allows.
type LimitError struct {
	Flag  string // with its dashes
	Limit time.Duration
	Err   error
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("it took longer than %s allows (%v): %v", e.Flag, e.Limit, e.Err)
}

func (e *LimitError) Unwrap() error { return e.Err }

// Within calls f with a context that ends after limit, which a flag says. The error is a [LimitError] where that made f fail, and
// not one of the many shorter limits that the requests have.
func Within(ctx context.Context, flag string, limit time.Duration, f func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := f(bounded)
	if err != nil && ctx.Err() == nil && errors.Is(bounded.Err(), context.DeadlineExceeded) {
		return &LimitError{flag, limit, err}
	}
	return err
}
