package processlease

import (
	"context"
	"time"

	"github.com/dynamolease/dynamolease/internal/request"
)

// sleep waits for d, or until the context ends, whose error it then returns.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return request.Ended(ctx) // also if both came at once
}
