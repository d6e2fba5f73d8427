package operate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// pollPeriod is the time from one look to the next.
const pollPeriod = time.Second

// A Waiting says how long to wait for an order to be carried out.
type Waiting struct {
	Wait  time.Duration // at most; 0 for no waiting
	Look  time.Duration // bounds one look at the table, or one order: --timeout
	Tell  func(string)  // gets a line on each thing that is waited for
	begun time.Time
}

func (w *Waiting) begin() { w.begun = time.Now() }

// over reports whether no time is left for another look after the next pause.
func (w *Waiting) over() bool { return time.Since(w.begun)+pollPeriod > w.Wait }

// look bounds one look, or one order.
func (w *Waiting) look(ctx context.Context, f func(context.Context) error) error {
	return Within(ctx, "--timeout", w.Look, f)
}

// waited says how long the waiting took.
func (w *Waiting) waited() string {
	if w.Wait == 0 {
		return "did not wait"
	}
	return fmt.Sprintf("waited for %v", w.Wait)
}

// pause waits for a period. It returns false if ctx has ended.
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

// hopeless reports whether an error will stay however often one tries.
func hopeless(err error) bool {
	var argument *dynamolease.ArgumentError
	var row *dynamolease.RowError
	var setup *dynamolease.SetupError
	return errors.As(err, &argument) || errors.As(err, &row) || errors.As(err, &setup)
}
