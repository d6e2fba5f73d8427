package operate

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A LimitError says that something took longer than a flag of the command allows.
type LimitError struct {
	Flag  string // with its dashes
	Limit time.Duration
	Err   error
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("it took longer than %s allows (%v): %v", e.Flag, e.Limit, e.Err)
}

func (e *LimitError) Unwrap() error { return e.Err }

// Within calls f with a context that ends after the limit that a flag sets. It returns a
// [LimitError] if that limit made f fail, rather than one of the shorter limits of single requests.
func Within(ctx context.Context, flag string, limit time.Duration, f func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := f(bounded)
	if err != nil && ctx.Err() == nil && errors.Is(bounded.Err(), context.DeadlineExceeded) {
		return &LimitError{flag, limit, err}
	}
	return err
}
