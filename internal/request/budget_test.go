package request

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// spend makes attempts that each take a time and end with a cause, until the budget ends, and returns their timeouts.
func spend(ctx context.Context, b *Budget, usual, each time.Duration, cause error) (timeouts []time.Duration, err error) {
	for {
		timeout, err := b.Begin(ctx, usual)
		if err != nil {
			return timeouts, err
		}
		timeouts = append(timeouts, timeout)
		time.Sleep(min(timeout, each))
		if err := b.Again(ctx, cause); err != nil {
			return timeouts, err
		}
	}
}

// A budget ends in time, gives no attempt less than a quarter of its usual timeout, and counts the attempts.
func TestBudgetEndsInTimeLS44(t *testing.T) {
	for _, each := range []time.Duration{0, 10 * time.Millisecond, 333 * time.Millisecond, time.Hour} {
		for _, cause := range []error{errors.New("lost"), coded(400, "ThrottlingException"), coded(400, "TransactionConflictException")} {
			t.Run(fmt.Sprintf("%v/%v", each, cause), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					const total, usual = 5 * time.Second, 1700 * time.Millisecond
					began := time.Now()
					timeouts, err := spend(t.Context(), NewBudget(total, time.Second), usual, each, cause)
					if took := time.Since(began); took > total || took < total/2 {
						t.Errorf("%d attempts took %v", len(timeouts), took)
					}
					for i, timeout := range timeouts {
						if timeout < usual/4 || timeout > usual {
							t.Errorf("attempt %d gets %v of %v", i, timeout, usual)
						}
					}
					if want := fmt.Sprintf("after %d attempt", len(timeouts)); !errors.Is(err, cause) || !strings.Contains(err.Error(), want) {
						t.Errorf("%v, want %s, and the cause", err, want)
					}
				})
			})
		}
	}
}

// A budget that is negative or used up allows no attempt, and says so.
func TestBudgetWithoutTimeLS44(t *testing.T) {
	for _, total := range []time.Duration{-time.Second, 0, time.Millisecond} {
		timeouts, err := spend(t.Context(), NewBudget(total, time.Second), time.Second, 0, nil)
		if len(timeouts) > 0 || err == nil || !strings.Contains(err.Error(), "before the first attempt") {
			t.Errorf("%v: %d attempts, %v", total, len(timeouts), err)
		}
	}
}

func TestBudgetEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		began, cause := time.Now(), errors.New("busy")
		_, err := spend(ctx, NewBudget(time.Minute, time.Second), time.Second, 0, cause)
		if took := time.Since(began); took != 100*time.Millisecond {
			t.Errorf("took %v", took)
		}
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, cause) {
			t.Errorf("got %v, want both", err)
		}
	})
}

// Delays grow, but not after a conflict: that is tried again after 20 to 50 ms. Throttling beside it counts.
func TestDelaysLS44(t *testing.T) {
	for name, test := range map[string]struct {
		cause error
		grows bool
	}{
		"lost":                      {errors.New("lost"), true},
		"throttled":                 {coded(400, "ThrottlingException"), true},
		"conflict":                  {coded(400, "TransactionConflictException"), false},
		"replica conflict":          {coded(400, "ReplicatedWriteConflictException"), false},
		"conflict of a transaction": {cancelled("None", "TransactionConflict"), false},
		"conflict and throttled":    {cancelled("ThrottlingError", "TransactionConflict"), true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, longest := NewBudget(time.Minute, time.Second), time.Duration(0)
				for i := range 20 {
					before := time.Now()
					if err := b.Again(t.Context(), test.cause); err != nil {
						t.Fatal(err)
					}
					took := time.Since(before)
					if longest = max(longest, took); !test.grows && (took < 20*time.Millisecond || took > 50*time.Millisecond) || i == 0 && took > 50*time.Millisecond {
						t.Errorf("delay %d is %v", i, took)
					}
				}
				if test.grows && longest < 500*time.Millisecond {
					t.Errorf("the longest delay is %v", longest)
				}
			})
		})
	}
}

func TestSharedBudgetsEndTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(time.Second, time.Second)
		time.Sleep(600 * time.Millisecond)
		other := b.Share()
		if got, err := other.Begin(t.Context(), 1500*time.Millisecond); err != nil || got != 400*time.Millisecond {
			t.Errorf("timeout %v, %v, want what is left", got, err)
		}
		time.Sleep(500 * time.Millisecond)
		for _, b := range []*Budget{b, other} {
			if _, err := b.Begin(t.Context(), time.Second); err == nil {
				t.Error("an attempt after the time")
			}
		}
	})
}

// A conflict is over soon: it is tried again after 20 to 50 ms, however often, and by a budget that
// otherwise allows one attempt, too.
func TestConflictIsTriedAgainSoon(t *testing.T) {
	reasons := func(codes ...string) error {
		var all []types.CancellationReason
		for _, code := range codes {
			all = append(all, types.CancellationReason{Code: &code})
		}
		return &types.TransactionCanceledException{CancellationReasons: all}
	}
	for name, budget := range map[string]func() *Budget{
		"many": func() *Budget { return NewBudget(5*time.Second, time.Second) },
		"once": func() *Budget { return Once(5 * time.Second) },
	} {
		for kind, conflict := range map[string]error{
			"request": &types.TransactionConflictException{}, "transaction": reasons("None", "TransactionConflict"),
		} {
			synctest.Test(t, func(t *testing.T) {
				b, began := budget(), time.Now()
				for before := began; ; before = time.Now() {
					if err := b.Again(t.Context(), fmt.Errorf("write: %w", conflict)); err != nil {
						break
					}
					if took := time.Since(before); took < 20*time.Millisecond || took > 50*time.Millisecond {
						t.Fatalf("%s, %s: tried again after %v", name, kind, took)
					}
				}
				if took := time.Since(began); took < 4900*time.Millisecond || took > 5*time.Second {
					t.Errorf("%s, %s: gave up after %v", name, kind, took)
				}
			})
		}
	}
	if Once(time.Minute).Again(t.Context(), errors.New("lost")) == nil {
		t.Error("a second attempt after another failure")
	}
}
