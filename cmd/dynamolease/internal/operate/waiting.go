package operate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// pollPeriod is how often one looks whether what was ordered is done.
const pollPeriod = time.Second

// A Waiting says how long one waits for what was ordered.
type Waiting struct {
	Wait  time.Duration // at most; 0 orders, and does not wait
	Look  time.Duration // the longest that one look at the table, or one order, may take: --timeout
	Tell  func(string)  // is told what is waited for, a line each time
	begun time.Time
}

func (w *Waiting) begin() { w.begun = time.Now() }

// over tells whether there is no time left for another look after the next pause.
func (w *Waiting) over() bool { return time.Since(w.begun)+pollPeriod > w.Wait }

// look bounds one look, or one order.
func (w *Waiting) look(ctx context.Context, f func(context.Context) error) error {
	return Within(ctx, "--timeout", w.Look, f)
}

// waited says how long that was.
func (w *Waiting) waited() string {
	if w.Wait == 0 {
		return "did not wait"
	}
	return fmt.Sprintf("waited for %v", w.Wait)
}

// pause passes a period. It returns false when ctx has ended.
func (w *Waiting) pause(ctx context.Context) bool {
	timer := time.NewTimer(pollPeriod)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// hopeless tells whether an error stays however often one tries.
func hopeless(err error) bool {
	var argument *dynamolease.ArgumentError
	var row *dynamolease.RowError
	var setup *dynamolease.SetupError
	return errors.As(err, &argument) || errors.As(err, &row) || errors.As(err, &setup)
}
